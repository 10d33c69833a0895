/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/safe_text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/xalloc.h"

unsigned ga_character(const char *text, uint32_t *code_out)
{
	const unsigned char *at = (const unsigned char *)text;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned bytes = *at < 0x80 ? 1 : *at < 0xc0 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
	uint32_t code = bytes < 2 ? *at : *at & (0xffu >> (bytes + 1));
	for (unsigned i = 1; i < bytes; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	*code_out = code;
	bool good = *at < 0xf8 && bytes && code >= least[bytes] && code <= 0x10ffff &&
		    (code < 0xd800 || code > 0xdfff);
	return good ? bytes : 0;
}

bool ga_steers(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

char *ga_safe_text(const char *text)
{
	char *safe = ga_format("%s", text), *to = safe;
	while (*text) {
		uint32_t code;
		unsigned bytes = ga_character(text, &code);
		bool shown = bytes && !ga_steers(code);
		if (shown)
			memcpy(to, text, bytes);
		else
			*to = '?';
		to += shown ? bytes : 1;
		text += bytes ? bytes : 1;
	}
	*to = 0;
	return safe;
}

void ga_put_safe(FILE *out, const char *text)
{
	char *safe = ga_safe_text(text);
	fputs(safe, out);
	free(safe);
}

void ga_say(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char *text = ga_format_list(format, arguments);
	va_end(arguments);
	fputs("gpushim: ", stderr);
	ga_put_safe(stderr, text);
	fputc('\n', stderr);
	free(text);
}

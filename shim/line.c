/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/line.h"

#include <string.h>

void gs_line_start(struct gs_line *line, char *buffer, size_t room)
{
	*line = (struct gs_line){.bytes = buffer, .room = (uint32_t)room};
	buffer[0] = 0;
}

void gs_line_bytes(struct gs_line *line, const char *bytes, size_t count)
{
	size_t left = line->room - 1 - line->length;
	if (count > left) {
		count = left;
		line->cut = true;
	}
	memcpy(line->bytes + line->length, bytes, count);
	line->length += (uint32_t)count;
	line->bytes[line->length] = 0;
}

void gs_line_text(struct gs_line *line, const char *text)
{
	if (!text)
		text = "(null)";
	gs_line_bytes(line, text, strlen(text));
}

void gs_line_number(struct gs_line *line, uint64_t value, unsigned base, unsigned digits)
{
	char reversed[64], straight[64];
	unsigned count = 0;
	do {
		reversed[count++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	while (count < digits && count < sizeof(reversed))
		reversed[count++] = '0';
	for (unsigned i = 0; i < count; i++)
		straight[i] = reversed[count - 1 - i];
	gs_line_bytes(line, straight, count);
}

static void gs_line_signed(struct gs_line *line, int64_t value)
{
	if (value < 0)
		gs_line_bytes(line, "-", 1);
	gs_line_number(line, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10, 1);
}

/* One conversion; `at` is behind the percent sign.  Returns what follows it. */
static const char *gs_line_convert(struct gs_line *line, const char *at, va_list *list)
{
	bool wide = false;
	for (; *at == 'l' || *at == 'z'; at++)
		wide = true;
	switch (*at) {
	case 's':
		gs_line_text(line, va_arg(*list, const char *));
		break;
	case 'c': {
		char c = (char)va_arg(*list, int);
		gs_line_bytes(line, &c, 1);
		break;
	}
	case 'd':
		gs_line_signed(line, wide ? va_arg(*list, long long) : va_arg(*list, int));
		break;
	case 'u':
	case 'x':
		gs_line_number(line,
		    wide ? va_arg(*list, unsigned long long) : va_arg(*list, unsigned),
		    *at == 'x' ? 16 : 10, 1);
		break;
	case 0:
		return at;
	default:
		gs_line_bytes(line, at, 1);
	}
	return at + 1;
}

void gs_line_format_list(struct gs_line *line, const char *format, va_list list)
{
	va_list copy; /* a va_list parameter may be an array type, whose address is not a va_list * */
	va_copy(copy, list);
	for (const char *at = format; *at;) {
		const char *percent = strchr(at, '%');
		if (!percent) {
			gs_line_text(line, at);
			break;
		}
		gs_line_bytes(line, at, (size_t)(percent - at));
		at = gs_line_convert(line, percent + 1, &copy);
	}
	va_end(copy);
}

void gs_line_format(struct gs_line *line, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	gs_line_format_list(line, format, list);
	va_end(list);
}

void gs_line_json(struct gs_line *line, const char *bytes, size_t count)
{
	gs_line_bytes(line, "\"", 1);
	for (size_t i = 0; i < count; i++) {
		unsigned char c = (unsigned char)bytes[i];
		if (c == '"' || c == '\\') {
			gs_line_format(line, "\\%c", c);
		} else if (c < 0x20) {
			gs_line_text(line, "\\u");
			gs_line_number(line, c, 16, 4);
		} else {
			gs_line_bytes(line, bytes + i, 1);
		}
	}
	gs_line_bytes(line, "\"", 1);
}

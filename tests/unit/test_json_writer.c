/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "analyzer/json_writer.h"

static char *text;
static size_t length;

static struct ga_json begin(void)
{
	return (struct ga_json){.out = open_memstream(&text, &length)};
}

static void expect(struct ga_json *json, const char *wanted)
{
	fclose(json->out);
	EXPECT_STR(text, wanted);
	free(text);
}

TEST(nesting_and_commas)
{
	struct ga_json json = begin();
	ga_json_object(&json, NULL);
	ga_json_number(&json, "a", UINT64_MAX);
	ga_json_list(&json, "b");
	ga_json_signed(&json, NULL, -5);
	ga_json_null(&json, NULL);
	ga_json_list_end(&json);
	ga_json_list(&json, "c");
	ga_json_list_end(&json);
	ga_json_maybe(&json, "d", false, 7);
	ga_json_bool(&json, "e", true);
	ga_json_object_end(&json);
	expect(&json, "{\n  \"a\": 18446744073709551615,\n  \"b\": [\n    -5,\n    null\n  ],\n"
		      "  \"c\": [],\n  \"d\": null,\n  \"e\": true\n}\n");
}

TEST(deep_objects_stay_on_one_line)
{
	struct ga_json json = begin();
	json.one_line = 2;
	ga_json_object(&json, NULL);
	ga_json_object(&json, "x");
	ga_json_number(&json, "y", 1);
	ga_json_number(&json, "z", 2);
	ga_json_object_end(&json);
	ga_json_object_end(&json);
	expect(&json, "{\n  \"x\": {\"y\": 1, \"z\": 2}\n}\n");
}

TEST(strings_are_always_valid)
{
	struct ga_json json = begin();
	ga_json_list(&json, NULL);
	ga_json_string(&json, NULL, "q\"b\\n\nt\t\001\x7f");
	ga_json_string(&json, NULL, "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
	ga_json_string(&json, NULL, "\xff \xc3 \xed\xa0\x80 \xc0\xaf \xf5\x80\x80\x80");
	ga_json_string(&json, NULL, "\xc2\x9b\xe2\x80\xae"); /* CSI, and right to left */
	ga_json_string(&json, NULL, NULL);
	ga_json_list_end(&json);
	expect(&json, "[\n  \"q\\\"b\\\\n\\nt\\t\\u0001\\u007f\",\n"
		      "  \"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\",\n"
		      "  \"\\ufffd \\ufffd \\ufffd\\ufffd\\ufffd \\ufffd\\ufffd "
		      "\\ufffd\\ufffd\\ufffd\\ufffd\",\n  \"\\u009b\\u202e\",\n  null\n]\n");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "analyzer/options.h"

static struct ga_options options;

/* Parse the words behind a command; the complaint, or NULL. */
static char *parse(enum ga_command command, const char *line)
{
	static char copy[256], *words[32];
	int count = 0;
	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		words[count++] = word;
	return ga_options_parse(command, count, words, &options);
}

static void expect_wrong(enum ga_command command, const char *line, const char *words)
{
	char *wrong = parse(command, line);
	EXPECT(wrong && strstr(wrong, words));
	if (wrong && !strstr(wrong, words))
		printf("# %s\n", wrong);
	free(wrong);
}

TEST(options_and_traces_mix)
{
	EXPECT(parse(GA_COMMAND_memory, "a.gst --json --color=never b.gst -o out -") == NULL);
	EXPECT_EQ(options.argument_count, 3);
	EXPECT_STR(options.arguments[1], "b.gst");
	EXPECT_STR(options.arguments[2], "-");
	EXPECT(ga_option_given(&options, GA_OPTION_JSON));
	EXPECT_STR(options.values[GA_OPTION_COLOR], "never");
	EXPECT_STR(options.values[GA_OPTION_OUTPUT], "out");
	EXPECT(!ga_option_given(&options, GA_OPTION_FAIL_ABOVE));
	ga_options_free(&options);
}

TEST(value_in_the_same_word)
{
	EXPECT(parse(GA_COMMAND_export, "-fcsv --output=x t.gst") == NULL);
	EXPECT_STR(options.values[GA_OPTION_FORMAT], "csv");
	EXPECT_STR(options.values[GA_OPTION_OUTPUT], "x");
	ga_options_free(&options);
}

TEST(a_program_keeps_its_own_options)
{
	EXPECT(parse(GA_COMMAND_dryrun, "--memory 8G python -c --json -o x") == NULL);
	EXPECT_STR(options.values[GA_OPTION_MEMORY], "8G");
	EXPECT_EQ(options.argument_count, 5);
	EXPECT_STR(options.arguments[0], "python");
	EXPECT_STR(options.arguments[3], "-o");
	EXPECT(!ga_option_given(&options, GA_OPTION_TRACE));
	EXPECT(options.arguments[5] == NULL);
	ga_options_free(&options);
}

TEST(two_dashes_end_the_options)
{
	EXPECT(parse(GA_COMMAND_run, "-o x/ -- -program -- -o y") == NULL);
	EXPECT_EQ(options.argument_count, 4);
	EXPECT_STR(options.arguments[0], "-program");
	EXPECT_STR(options.arguments[1], "--");
	EXPECT_STR(options.values[GA_OPTION_TRACE], "x/");
	ga_options_free(&options);
	EXPECT(parse(GA_COMMAND_info, "-- --json") == NULL);
	EXPECT_STR(options.arguments[0], "--json");
	ga_options_free(&options);
}

TEST(every_set_is_kept)
{
	EXPECT(parse(GA_COMMAND_run, "--set stacks=none --set limit=1G -- x") == NULL);
	EXPECT_EQ(options.set_count, 2);
	EXPECT_STR(options.sets[0], "stacks=none");
	EXPECT_STR(options.sets[1], "limit=1G");
	ga_options_free(&options);
}

TEST(complaints)
{
	expect_wrong(GA_COMMAND_memory, "--gpu l4", "has no option '--gpu'");
	expect_wrong(GA_COMMAND_memory, "-x", "has no option '-x'");
	expect_wrong(GA_COMMAND_memory, "--color blue", "auto|always|never, not 'blue'");
	expect_wrong(GA_COMMAND_memory, "--color=aut", "not 'aut'");
	expect_wrong(GA_COMMAND_memory, "--color=", "not ''");
	expect_wrong(GA_COMMAND_memory, "--json=1", "takes no value");
	expect_wrong(GA_COMMAND_memory, "t.gst -o", "needs FILE");
	expect_wrong(GA_COMMAND_export, "--format perfetto", "csv|chrome");
	expect_wrong(GA_COMMAND_memory, "--fail-above much", "a size such as 24G, not 'much'");
	expect_wrong(GA_COMMAND_dryrun, "--context=", "--context needs a size");
	static const char *const odd[] = {"-1", "x", "1.5", "2K", "0x1", "9999999999"};
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		char line[32];
		snprintf(line, sizeof(line), "--gpus %s x", odd[i]);
		expect_wrong(GA_COMMAND_dryrun, line, "--gpus needs a number, not '");
	}
}

TEST(sizes_and_numbers)
{
	EXPECT(parse(GA_COMMAND_memory, "--top 007 --fail-above 1.5K t.gst") == NULL);
	EXPECT_EQ(ga_option_size(&options, GA_OPTION_TOP, 12), 7);
	EXPECT_EQ(ga_option_size(&options, GA_OPTION_FAIL_ABOVE, 0), 1536);
	EXPECT_EQ(ga_option_size(&options, GA_OPTION_MEMORY, 99), 99);
	ga_options_free(&options);
}

TEST(commands_by_name)
{
	EXPECT_EQ(ga_command_find("memory"), GA_COMMAND_memory);
	EXPECT_EQ(ga_command_find("memor"), GA_COMMAND_COUNT);
	EXPECT_STR(ga_command_guess("memroy"), "memory");
	EXPECT_STR(ga_command_guess("reprot"), "report");
	EXPECT(ga_command_guess("train.py") == NULL);
	EXPECT(ga_command_guess("a-word-that-is-much-longer-than-every-command") == NULL);
}

/* The tables themselves: what parsing relies on. */
TEST(no_two_options_of_a_command_share_a_name)
{
	for (int i = 0; i < GA_OPTION_COUNT; i++)
		for (int j = i + 1; j < GA_OPTION_COUNT; j++) {
			const struct ga_option_row *a = &ga_option_rows[i], *b = &ga_option_rows[j];
			if (!(a->commands & b->commands))
				continue;
			EXPECT(strcmp(a->name, b->name) != 0);
			EXPECT(!a->letter || a->letter != b->letter);
		}
}

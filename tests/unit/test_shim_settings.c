/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/settings.h"

#include "tests/test.h"

static uint64_t number(enum gs_setting setting, const char *text)
{
	uint64_t value = 12345;
	return gs_settings_parse(setting, text, &value) ? value : UINT64_MAX;
}

TEST(sizes)
{
	EXPECT_EQ(number(GS_SETTING_limit, "0"), 0);
	EXPECT_EQ(number(GS_SETTING_limit, "512"), 512);
	EXPECT_EQ(number(GS_SETTING_limit, "512M"), 512ll << 20);
	EXPECT_EQ(number(GS_SETTING_limit, "24g"), 24ll << 30);
	EXPECT_EQ(number(GS_SETTING_limit, "3KiB"), 3072);
	EXPECT_EQ(number(GS_SETTING_limit, "3KB"), 3072);
	EXPECT_EQ(number(GS_SETTING_limit, "7B"), 7);
	EXPECT_EQ(number(GS_SETTING_limit, "2T"), 2ll << 40);
	static const char *const bad[] = {"", "M", "-1", " 1", "1X", "1MM", "1Mi", "1MiBs", "1.5G",
	    "99999999999999999999", "18446744073709551615T"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		EXPECT_EQ(number(GS_SETTING_limit, bad[i]), UINT64_MAX);
}

TEST(lists_and_choices)
{
	EXPECT_EQ(number(GS_SETTING_record, "memory"), GS_CLASS_MEMORY);
	EXPECT_EQ(number(GS_SETTING_record, "api,kernels"), GS_CLASS_API | GS_CLASS_KERNELS);
	EXPECT_EQ(number(GS_SETTING_record, "cpu"), GS_CLASS_CPU);
	EXPECT_EQ(number(GS_SETTING_record, "memory,"), UINT64_MAX);
	EXPECT_EQ(number(GS_SETTING_record, "mem"), UINT64_MAX);
	EXPECT_EQ(number(GS_SETTING_record, ""), UINT64_MAX);
	EXPECT_EQ(number(GS_SETTING_log, "error"), 0);
	EXPECT_EQ(number(GS_SETTING_log, "debug"), 3);
	EXPECT_EQ(number(GS_SETTING_log, "loud"), UINT64_MAX);
	EXPECT_EQ(number(GS_SETTING_enable, "0"), 0);
	EXPECT_EQ(number(GS_SETTING_enable, "1"), 1);
	EXPECT_EQ(number(GS_SETTING_enable, "10"), UINT64_MAX);
}

TEST(defaults_and_environment)
{
	EXPECT(gs_settings_enabled());
	EXPECT_STR(gs_settings_text(GS_SETTING_output), "./gpushim-%n-%p.gst");
	EXPECT_EQ(gs_settings_number(GS_SETTING_limit), 0);
	EXPECT_EQ(gs_settings_number(GS_SETTING_record),
	    GS_CLASS_MEMORY | GS_CLASS_COPIES | GS_CLASS_KERNELS | GS_CLASS_API);
	char longer[3000] = "GPUSHIM_OUTPUT=";
	memset(longer + strlen(longer), 'x', sizeof(longer) - 1 - strlen(longer));
	const char *environment[] = {"HOME=/", "GPUSHIM_ENABLE=0", "GPUSHIM_LIMIT=1M",
	    "GPUSHIM_LOG=loud", "GPUSHIM_OUTPUTS=no", longer, NULL};
	gs_settings_read((char **)environment);
	EXPECT(!gs_settings_enabled());
	EXPECT_EQ(gs_settings_number(GS_SETTING_limit), 1 << 20);
	EXPECT_EQ(gs_settings_number(GS_SETTING_log), 1); /* bad: the default, warn */
	EXPECT_STR(gs_settings_text(GS_SETTING_output), "./gpushim-%n-%p.gst");
	EXPECT_STR(gs_settings_text(GS_SETTING_log), "warn");
	EXPECT_STR(gs_settings_text(GS_SETTING_limit), "1M");
}

TEST(complaints_name_what_is_ignored)
{
	char path[] = "/tmp/gpushim-test-XXXXXX";
	int fd = mkstemp(path);
	REQUIRE(fd >= 0);
	char log_file[64];
	snprintf(log_file, sizeof(log_file), "GPUSHIM_LOG_FILE=%s", path);
	const char *environment[] = {log_file, "GPUSHIM_STACKS=many", "GPUSHIM_SPEED=fast",
	    "GPUSHIM_DRYRUN_CLOCK=instant", "GPUSHIM_RECORD=memory", NULL};
	gs_settings_read((char **)environment);
	gs_settings_complain((char **)environment);
	char text[2048] = "";
	EXPECT(read(fd, text, sizeof(text) - 1) > 0);
	EXPECT(strstr(text, "GPUSHIM_STACKS=many"));
	EXPECT(strstr(text, "none|python|native|all"));
	EXPECT(strstr(text, "GPUSHIM_SPEED"));
	EXPECT(!strstr(text, "DRYRUN"));
	EXPECT(!strstr(text, "GPUSHIM_RECORD"));
	unlink(path);
}

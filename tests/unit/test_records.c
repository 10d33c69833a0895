/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "formats/records.h"
#include "formats/status.h"

TEST(table)
{
	unsigned count = 0;
	for (unsigned tag = 0; tag < 300; tag++) {
		const struct gf_record_type *type = gf_record_type(tag);
		if (!type)
			continue;
		count++;
		EXPECT_EQ(type->tag, tag);
		EXPECT(tag > 0 && tag < GF_TAG_LIMIT);
		EXPECT(type->first_bytes <= type->bytes && type->bytes % 8 == 0);
		uint32_t at = 4;
		for (unsigned i = 0; i < type->column_count; i++) {
			const struct gf_column *column = &type->columns[i];
			EXPECT_EQ(column->offset, at);
			EXPECT_EQ(gf_column_index(type, column->name), i);
			EXPECT(gf_coding_name(column->coding) != NULL);
			/* What the encoder relies on. */
			EXPECT(column->bytes == 8 || !column->is_signed);
			if (column->coding != GF_CODING_PLAIN)
				EXPECT_EQ(column->bytes, 8);
			if (column->coding == GF_CODING_TOTAL)
				EXPECT(gf_column_index(type, "size") < type->column_count);
			EXPECT((i == GF_TIME_COLUMN) == (strcmp(column->name, "time") == 0));
			EXPECT((i == GF_TIME_COLUMN) == (column->coding == GF_CODING_TIME));
			at += column->bytes;
		}
		EXPECT_EQ(at, type->bytes);
		EXPECT_EQ(gf_column_index(type, "nothing"), type->column_count);
	}
	EXPECT(count >= 16);
	EXPECT(gf_coding_name(99) == NULL);
}

TEST(names_of_values)
{
	EXPECT_STR(gf_kind_name(GF_TAG_memory, GF_MEMORY_HOST_ALLOC), "HOST_ALLOC");
	EXPECT_STR(gf_kind_name(GF_TAG_lost, GF_LOST_DISK), "DISK");
	EXPECT_STR(gf_kind_name(GF_TAG_text, GF_TEXT_SCHEMA), "SCHEMA");
	EXPECT(gf_kind_name(GF_TAG_memory, 0) == NULL);
	EXPECT(gf_kind_name(GF_TAG_memory, 60000) == NULL);
	EXPECT(gf_kind_name(GF_TAG_block, 1) == NULL);
	EXPECT(gf_kind_name(1000, 1) == NULL);
}

TEST(status_words)
{
	struct gf_error error;
	for (unsigned i = 0; i < GF_STATUS_COUNT; i++)
		EXPECT(gf_status_words((enum gf_status)i)[0]);
	EXPECT_STR(gf_status_words((enum gf_status)1000), "unknown status");
	EXPECT_STR(gf_errno_words(28), "No space left on device");
	EXPECT(gf_errno_words(-5) && gf_errno_words(100000));
	EXPECT_EQ(gf_fail(NULL, GF_IO, 7, "x"), GF_IO);
	EXPECT_EQ(gf_fail(&error, GF_IO, 7, "%0600d", 1), GF_IO);
	EXPECT_EQ(strlen(error.text), sizeof(error.text) - 1);
	EXPECT_EQ(error.offset, 7);
}

static const char *read_file(const char *path)
{
	static char text[200000];
	FILE *file = fopen(path, "rb");
	if (!file)
		exit(77); /* not started in the root of the tree */
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	return text;
}

/* The next table row behind `at` within the section, NULL at its end. */
static const char *next_row(const char *at)
{
	for (;;) {
		at = strchr(at, '\n');
		if (!at || strncmp(at, "\n#", 2) == 0)
			return NULL;
		at++;
		if (strncmp(at, "| ", 2) == 0)
			return at;
	}
}

static bool begins(const char *text, const char *with)
{
	if (!text || strncmp(text, with, strlen(with)) != 0) {
		printf("# wanted: %s, found: %.40s\n", with, text ? text : "(end of the table)");
		return false;
	}
	return true;
}

/* formats/FORMAT.md has every type, field, width and coding in the order of the table, no more. */
TEST(specification_of_types)
{
	const char *text = read_file("formats/FORMAT.md");
	char line[200];
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++) {
		const struct gf_record_type *type = gf_record_type(tag);
		if (!type)
			continue;
		snprintf(line, sizeof(line), "\n### %u %s: %u bytes, first version %u\n", tag,
		    type->name, type->bytes, type->first_bytes);
		const char *row = strstr(text, line);
		if (!row)
			printf("# missing:%s", line);
		REQUIRE(row);
		row = next_row(next_row(row + 1)); /* behind the table's head */
		for (unsigned i = 0; i < type->column_count; i++) {
			const struct gf_column *column = &type->columns[i];
			snprintf(line, sizeof(line), "| %s | %c%d | %s | ", column->name,
			    column->is_signed ? 'i' : 'u', 8 * column->bytes,
			    gf_coding_name(column->coding));
			REQUIRE(begins(row, line));
			row = next_row(row);
		}
		EXPECT(row == NULL);
	}
}

TEST(specification_of_values)
{
	const char *text = read_file("formats/FORMAT.md");
	char line[200];
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++) {
		const char *row = NULL;
		for (unsigned value = 0; value < 1000; value++) {
			const char *name = gf_kind_name(tag, value);
			if (!name)
				continue;
			if (!row) {
				snprintf(
				    line, sizeof(line), "\n### %s: ", gf_record_type(tag)->name);
				row = strstr(text, line);
				REQUIRE(row);
				row = next_row(row + 1);
			}
			row = next_row(row);
			snprintf(line, sizeof(line), "| %u | %s | ", value, name);
			REQUIRE(begins(row, line));
		}
		EXPECT(!row || !next_row(row));
	}
}

TEST(schema)
{
	static char text[GF_TEXT_MAX_BYTES];
	size_t bytes = gf_schema_text(text, sizeof(text));
	EXPECT(bytes < sizeof(text));
	EXPECT_EQ(strlen(text), bytes);
	EXPECT_EQ(gf_schema_text(NULL, 0), bytes);
	EXPECT(strncmp(text, "record 1 block 72\n stack_id u32 PLAIN\n time u64 TIME\n", 50) == 0);
	EXPECT(strstr(text, " size i64 PLAIN\n") != NULL);
	EXPECT(strstr(text, "record 3 memory 72\n") != NULL);
	EXPECT(strstr(text, " =28 RELEASE_FAILED\n") != NULL);
	char little[20];
	EXPECT_EQ(gf_schema_text(little, sizeof(little)), bytes);
	EXPECT_STR(little, "record 1 block 72\n ");
}

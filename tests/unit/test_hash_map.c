/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "analyzer/hash_map.h"

struct item {
	uint64_t key, value;
};

#define KEYS 5000

static uint64_t random_number(void)
{
	static uint64_t state = 12345;
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

/* Against a plain array: keys 512 apart, as blocks are, so that runs of slots form. */
TEST(random_adds_and_removes)
{
	static uint64_t truth[KEYS];
	struct ga_map map;
	size_t count = 0;
	ga_map_init(&map, sizeof(struct item));
	for (int i = 0; i < 400000; i++) {
		uint64_t index = random_number() % KEYS, key = (index + 1) * 512;
		if (truth[index]) {
			struct item *item = ga_map_find(&map, key);
			REQUIRE(item && item->value == truth[index]);
			ga_map_remove(&map, item);
			truth[index] = 0;
			count--;
		} else {
			REQUIRE(ga_map_find(&map, key) == NULL);
			struct item *item = ga_map_add(&map, key);
			REQUIRE(item->value == 0);
			item->value = truth[index] = random_number() + 1;
			count++;
		}
		REQUIRE(map.count == count);
	}
	size_t seen = 0;
	for (struct item *item = NULL; (item = ga_map_next(&map, item)); seen++)
		EXPECT_EQ(item->value, truth[item->key / 512 - 1]);
	EXPECT_EQ(seen, count);
	ga_map_free(&map);
}

TEST(adding_twice_gives_the_same_item)
{
	struct ga_map map;
	ga_map_init(&map, sizeof(struct item));
	((struct item *)ga_map_add(&map, UINT64_MAX))->value = 3;
	EXPECT_EQ(((struct item *)ga_map_add(&map, UINT64_MAX))->value, 3);
	EXPECT_EQ(map.count, 1);
	EXPECT(ga_map_find(&map, 0) == NULL);
	ga_map_free(&map);
}

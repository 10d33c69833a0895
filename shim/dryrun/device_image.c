/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/device_image.h"

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/device_table.h"

#define FATBIN_MAGIC UINT32_C(0xBA55ED50)
#define WRAPPER_MAGIC UINT32_C(0x466243B1)
#define LARGEST_IMAGE (UINT64_C(2) << 30)

/* Attributes in .nv.info sections: format byte, attribute byte, 16 bits of value or length. */
enum { INFO_SIZED = 4, INFO_MAX_THREADS = 0x05, INFO_PARAMETER = 0x17 };

/* The file format of fat binaries, as far as it is needed. */
struct fatbin_header {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes; /* behind the header */
};
struct fatbin_entry {
	uint16_t kind; /* 1 PTX, 2 ELF */
	uint16_t version;
	uint32_t header_bytes;
	uint64_t bytes;		   /* behind the header */
	uint32_t compressed_bytes; /* 0: stored as it is */
	uint32_t options;
	uint16_t minor, major;
	uint32_t architecture;
};
enum { FATBIN_PTX = 1, FATBIN_ELF = 2 };

static int device_version(void)
{
	return gd_facts.major * 10 + gd_facts.minor;
}

static bool is_elf(const void *data)
{
	return memcmp(data, ELFMAG, SELFMAG) == 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Length of an ELF file by its headers; 0 when it is none for a device. */
static uint64_t elf_bytes(const Elf64_Ehdr *elf)
{
	if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_machine != EM_CUDA ||
	    elf->e_shentsize != sizeof(Elf64_Shdr) || elf->e_shoff > LARGEST_IMAGE ||
	    elf->e_phoff > LARGEST_IMAGE) /* the sums cannot wrap */
		return 0;
	uint64_t sections = elf->e_shoff + (uint64_t)elf->e_shnum * sizeof(Elf64_Shdr);
	uint64_t segments = elf->e_phoff + (uint64_t)elf->e_phnum * sizeof(Elf64_Phdr);
	uint64_t bytes = larger(larger(sections, segments), sizeof(*elf));
	return bytes < LARGEST_IMAGE ? bytes : 0;
}

static int elf_version(const Elf64_Ehdr *elf)
{
	/* The architecture moved from the first to the second byte of the flags. */
	unsigned flags = elf->e_ident[EI_ABIVERSION] >= 8 ? elf->e_flags >> 8 : elf->e_flags;
	return (int)(flags & 0xff);
}

static int keep(struct gd_image *image, const void *data, size_t bytes)
{
	image->text = malloc(bytes + 1);
	if (!image->text)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(image->text, data, bytes);
	image->text[bytes] = 0;
	image->text_bytes = bytes;
	return CUDA_SUCCESS;
}

static int read_elf(const void *data, struct gd_image *image)
{
	uint64_t bytes = elf_bytes(data);
	if (!bytes)
		return CUDA_ERROR_INVALID_IMAGE;
	int version = elf_version(data);
	if (version / 10 != gd_facts.major || version > device_version())
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	image->elf = true;
	image->binary_version = image->ptx_version = version;
	return keep(image, data, bytes);
}

static int read_ptx(const char *text, struct gd_image *image)
{
	const char *target = strstr(text, ".target");
	const char *sm = target ? strstr(target, "sm_") : NULL;
	if (!sm)
		return CUDA_ERROR_INVALID_PTX;
	image->ptx_version = atoi(sm + 3);
	if (image->ptx_version > device_version())
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	image->binary_version = device_version();
	return keep(image, text, strlen(text));
}

/* Machine code of the same generation, the newest that is not too new; else PTX. */
static bool better(const struct fatbin_entry *entry, const struct fatbin_entry *best)
{
	bool elf = entry->kind == FATBIN_ELF;
	if (!elf && entry->kind != FATBIN_PTX)
		return false;
	if ((int)entry->architecture > device_version() ||
	    (elf && (int)entry->architecture / 10 != gd_facts.major))
		return false;
	if (!best || best->kind != entry->kind)
		return !best || elf;
	return entry->architecture > best->architecture;
}

static int read_fatbin(const char *data, struct gd_image *image)
{
	const struct fatbin_header *header = (const void *)data;
	const struct fatbin_entry *best = NULL;
	uint64_t end = header->header_bytes + header->bytes;
	if (header->bytes > LARGEST_IMAGE)
		return CUDA_ERROR_INVALID_IMAGE;
	for (uint64_t at = header->header_bytes; at + sizeof(*best) <= end;) {
		const struct fatbin_entry *entry = (const void *)(data + at);
		if (better(entry, best))
			best = entry;
		if (entry->header_bytes < sizeof(*entry) || entry->bytes > end - at)
			break;
		at += entry->header_bytes + entry->bytes;
	}
	if (!best)
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	const char *content = (const char *)best + best->header_bytes;
	image->ptx_version = (int)best->architecture;
	image->binary_version =
	    best->kind == FATBIN_ELF ? (int)best->architecture : device_version();
	if (best->kind == FATBIN_ELF && !best->compressed_bytes && is_elf(content))
		return read_elf(content, image);
	return CUDA_SUCCESS;
}

int gd_image_read(const void *data, struct gd_image *image_out)
{
	struct gd_image image = {0};
	uint32_t magic;
	int result;
	if (!data)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&magic, data, sizeof(magic));
	if (magic == WRAPPER_MAGIC) {
		memcpy(&data, (const char *)data + 8, sizeof(data));
		memcpy(&magic, data, sizeof(magic));
	}
	if (magic == FATBIN_MAGIC)
		result = read_fatbin(data, &image);
	else if (is_elf(data))
		result = read_elf(data, &image);
	else if (strchr(" \t\n\r./", (int)(magic & 0xff)) && (magic & 0xff))
		result = read_ptx(data, &image);
	else
		result = CUDA_ERROR_INVALID_IMAGE;
	if (result == CUDA_SUCCESS)
		*image_out = image;
	else
		gd_image_free(&image);
	return result;
}

void gd_image_free(struct gd_image *image)
{
	free(image->text);
	image->text = NULL;
}

/* ---- looking into a cubin; every offset is checked, a broken one finds nothing ---- */

static const Elf64_Shdr *section(const struct gd_image *image, unsigned index)
{
	const Elf64_Ehdr *elf = (const void *)image->text;
	if (index >= elf->e_shnum)
		return NULL;
	return (const Elf64_Shdr *)(image->text + elf->e_shoff) + index;
}

static const char *section_data(const struct gd_image *image, const Elf64_Shdr *header)
{
	if (!header || header->sh_type == SHT_NOBITS || header->sh_offset > image->text_bytes ||
	    header->sh_size > image->text_bytes - header->sh_offset)
		return NULL;
	return image->text + header->sh_offset;
}

static const char *string(const struct gd_image *image, const Elf64_Shdr *table, uint64_t offset)
{
	const char *strings = section_data(image, table);
	if (!strings || offset >= table->sh_size || strings[table->sh_size - 1])
		return "";
	return strings + offset;
}

static const char *section_name(const struct gd_image *image, const Elf64_Shdr *header)
{
	const Elf64_Ehdr *elf = (const void *)image->text;
	return string(image, section(image, elf->e_shstrndx), header->sh_name);
}

/* The section called prefix + name, or, with a NULL name, the index-th that begins so. */
static const Elf64_Shdr *find_section(
    const struct gd_image *image, const char *prefix, const char *name, unsigned index)
{
	const Elf64_Shdr *header;
	for (unsigned i = 0; (header = section(image, i)) != NULL; i++) {
		const char *full = section_name(image, header);
		if (strncmp(full, prefix, strlen(prefix)) != 0)
			continue;
		if (name ? strcmp(full + strlen(prefix), name) == 0 : index-- == 0)
			return header;
	}
	return NULL;
}

struct info {
	uint8_t format, attribute;
	uint16_t value; /* or bytes that follow */
};

/* Step through a .nv.info section. @return NULL at its end */
static const struct info *next_info(const char *data, uint64_t bytes, uint64_t *at)
{
	if (!data || *at + sizeof(struct info) > bytes)
		return NULL;
	const struct info *info = (const void *)(data + *at);
	uint64_t payload = info->format == INFO_SIZED ? info->value : 0;
	if (payload > bytes - *at - sizeof(*info))
		return NULL;
	*at += sizeof(*info) + payload;
	return info;
}

static void read_info(const struct gd_image *image, const char *name, struct gd_code_facts *facts)
{
	const Elf64_Shdr *header = find_section(image, ".nv.info.", name, 0);
	const char *data = section_data(image, header);
	uint64_t at = 0;
	uint32_t dims[3];
	for (const struct info *i; data && (i = next_info(data, header->sh_size, &at)) != NULL;) {
		if (i->format != INFO_SIZED || i->attribute != INFO_MAX_THREADS ||
		    i->value < sizeof(dims))
			continue;
		memcpy(dims, i + 1, sizeof(dims));
		uint64_t threads = (uint64_t)dims[0] * dims[1] * dims[2];
		if (threads && threads < 1024)
			facts->max_threads = (int)threads;
	}
}

static bool ptx_has_entry(const char *text, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = strstr(text, ".entry"); at; at = strstr(at, ".entry")) {
		at += strlen(".entry");
		at += strspn(at, " \t\r\n");
		if (strncmp(at, name, length) == 0 && strchr(" \t\r\n({", at[length]))
			return true;
	}
	return false;
}

bool gd_image_kernel(
    const struct gd_image *image, const char *name, struct gd_code_facts *facts_out)
{
	*facts_out = (struct gd_code_facts){.registers = 32, .max_threads = 1024};
	if (!image->text)
		return true;
	if (!image->elf)
		return ptx_has_entry(image->text, name);
	const Elf64_Shdr *code = find_section(image, ".text.", name, 0);
	if (!code)
		return false;
	const Elf64_Shdr *shared = find_section(image, ".nv.shared.", name, 0);
	facts_out->registers = (int)(code->sh_info >> 24);
	facts_out->static_shared_bytes = shared ? (int)shared->sh_size : 0;
	read_info(image, name, facts_out);
	return true;
}

const char *gd_image_kernel_name(const struct gd_image *image, unsigned index, size_t *length_out)
{
	if (!image->text)
		return NULL;
	if (image->elf) {
		const Elf64_Shdr *code = find_section(image, ".text.", NULL, index);
		const char *full = code ? section_name(image, code) : "";
		*length_out = 0;
		if (strlen(full) <= strlen(".text."))
			return NULL;
		*length_out = strlen(full) - strlen(".text.");
		return full + strlen(".text.");
	}
	for (const char *at = strstr(image->text, ".entry"); at; at = strstr(at, ".entry")) {
		at += strlen(".entry");
		at += strspn(at, " \t\r\n");
		*length_out = strcspn(at, " \t\r\n({");
		if (index-- == 0)
			return at;
	}
	return NULL;
}

bool gd_image_parameter(const struct gd_image *image, const char *name, unsigned index,
    size_t *offset_out, size_t *bytes_out)
{
	struct parameter {
		uint32_t index;
		uint16_t ordinal, offset;
		uint32_t flags; /* size from bit 18 */
	} parameter;
	const Elf64_Shdr *header = image->elf ? find_section(image, ".nv.info.", name, 0) : NULL;
	const char *data = header ? section_data(image, header) : NULL;
	uint64_t at = 0;
	for (const struct info *i; data && (i = next_info(data, header->sh_size, &at)) != NULL;) {
		if (i->format != INFO_SIZED || i->attribute != INFO_PARAMETER ||
		    i->value < sizeof(parameter))
			continue;
		memcpy(&parameter, i + 1, sizeof(parameter));
		if (parameter.ordinal != index)
			continue;
		*offset_out = parameter.offset;
		*bytes_out = parameter.flags >> 18;
		return true;
	}
	return false;
}

/* ---- variables of PTX: ".global .align 4 .b8 table[64];" ---- */

static const char blanks[] = " \t\r\n";

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, blanks);
}

/* What a word such as .b32, .f16x2 or .v4 multiplies the size by; 0: it is no part of a type. */
static uint64_t type_factor(const char *word)
{
	char *end;
	size_t letters = strspn(word + 1, "abcdefghijklmnopqrstuvwxyz");
	const char *digits = word + 1 + letters;
	uint64_t number = strtoul(digits, &end, 10);
	if (end == digits || number > 1024)
		return 0;
	if (letters == 1 && word[1] == 'v')
		return number;
	if ((letters == 1 && strchr("bsuf", word[1])) || strncmp(word, ".bf", 3) == 0)
		return number / 8 * (strncmp(end, "x2", 2) == 0 ? 2 : 1);
	return 0;
}

/* Step over alignment, attributes and type. @return bytes of one element; 0 when that is none */
static uint64_t element_bytes(const char **at)
{
	uint64_t bytes = 1;
	bool typed = false;
	for (const char *word; *(word = *at = skip_blanks(*at)) == '.';) {
		uint64_t factor = type_factor(word);
		if (strncmp(word, ".align", 6) == 0) {
			*at = skip_blanks(word + 6);
			*at += strspn(*at, "0123456789");
			continue;
		}
		if (strncmp(word, ".attribute", 10) == 0) {
			*at += strcspn(word, ")");
			*at += **at == ')';
			continue;
		}
		if (!factor || factor > 64 || bytes > 64)
			return 0;
		bytes *= factor;
		typed |= word[1] != 'v';
		*at += strcspn(word, blanks);
	}
	return typed ? bytes : 0;
}

/* Size of the variable that is declared here, if it has the name; else 0. */
static uint64_t declared_bytes(const char *at, const char *name)
{
	uint64_t bytes = element_bytes(&at), count;
	char *end;
	size_t length = strcspn(at, " \t\r\n[=,;");
	if (length != strlen(name) || memcmp(at, name, length) != 0)
		return 0;
	for (at = skip_blanks(at + length); bytes && *at == '['; at = skip_blanks(end + 1)) {
		count = strtoull(at + 1, &end, 10);
		end += strspn(end, blanks);
		if (*end != ']' || __builtin_mul_overflow(bytes, count, &bytes))
			return 0;
	}
	return bytes;
}

static uint64_t ptx_variable_bytes(const char *text, const char *name)
{
	static const char *const spaces[] = {".global", ".const"};
	for (unsigned i = 0; i < 2; i++) {
		size_t length = strlen(spaces[i]);
		for (const char *at = text; (at = strstr(at, spaces[i])) != NULL; at += length) {
			/* Not a part of an instruction such as ld.global.u32. */
			bool word = (at == text || strchr(" \t\r\n;}", at[-1])) && at[length] &&
				    strchr(blanks, at[length]);
			uint64_t bytes = word ? declared_bytes(at + length, name) : 0;
			if (bytes)
				return bytes;
		}
	}
	return 0;
}

bool gd_image_variable(
    const struct gd_image *image, const char *name, size_t *bytes_out, const void **data_out)
{
	const Elf64_Shdr *header;
	if (!image->elf) {
		*data_out = NULL;
		*bytes_out = ptx_variable_bytes(image->text, name);
		return *bytes_out != 0;
	}
	for (unsigned i = 0; (header = section(image, i)) != NULL; i++) {
		const Elf64_Sym *symbols = (const void *)section_data(image, header);
		uint64_t count = header->sh_size / sizeof(*symbols);
		if (header->sh_type != SHT_SYMTAB || !symbols)
			continue;
		for (uint64_t s = 0; s < count; s++) {
			if (ELF64_ST_TYPE(symbols[s].st_info) != STT_OBJECT ||
			    strcmp(
				string(image, section(image, header->sh_link), symbols[s].st_name),
				name) != 0)
				continue;
			const Elf64_Shdr *home = section(image, symbols[s].st_shndx);
			const char *data = section_data(image, home);
			bool inside = data && symbols[s].st_value <= home->sh_size &&
				      symbols[s].st_size <= home->sh_size - symbols[s].st_value;
			*bytes_out = symbols[s].st_size;
			*data_out = inside ? data + symbols[s].st_value : NULL;
			return true;
		}
	}
	return false;
}

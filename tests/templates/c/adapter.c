// An adapter for wireproof: one file of C99 and nothing beside the C library.
//
//     cc -O2 -o adapter adapter.c && wireproof check 'exec:./adapter' --run 'iggy.identifier/**'
//
// As it stands it is a whole codec of a small format, Iggy's identifier: kind (1 byte), length (1 byte), value.
// Put yours in its place: HELLO, decode, encode. What is below "the wire" can stay as it is.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the codec can do, by format and revision (`wireproof show` lists them). Only what is claimed is asked.
 * May hold more: codecs, profiles, features, and observes, the fields that it shows, if not all.
 * errors: "exact": the classes of refusals are judged too; "coarse": only that it refuses; "none": no reasons. */
static const char HELLO[] =
    "{\"hello\":{\"protocol\":1,\"name\":\"my-codec\",\"version\":\"1.0\",\"errors\":\"exact\",\"window\":1,"
    "\"revisions\":{\"iggy.identifier/0.0.30\":{\"ops\":[\"decode\",\"encode\"]},"
    "\"iggy.identifier/0.8\":{\"ops\":[\"decode\",\"encode\"]}}}}";

/* The class of a refusal in the contract's words, and where; NULL: none. */
typedef struct { const char *class; size_t at; } Refused;
static const Refused FINE = {NULL, 0};
static Refused refuse(const char *class, size_t at) { return (Refused){class, at}; }

/* --- the codec: yours goes here --- */

typedef struct { const char *kind; const uint8_t *value; size_t length; } Identifier;
static const char *const KINDS[] = {"", "numeric", "string"};

/* Strict: no overlong form, no surrogate, nothing above U+10FFFF. */
static int is_utf8(const uint8_t *p, size_t left) {
    while (left) {
        size_t n = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : (*p & 0xf0) == 0xe0 ? 3 : *p >= 0xf0 && *p < 0xf5 ? 4 : 0;
        if (!n || n > left) return 0;
        for (size_t i = 1; i < n; i++) if ((p[i] & 0xc0) != 0x80) return 0;
        if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f)) return 0;
        if ((*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f)) return 0;
        p += n, left -= n;
    }
    return 1;
}

/* The value that stands at the start of `data`, and how many bytes it takes. */
static Refused decode(int zero_is_a_name, const uint8_t *data, size_t size, Identifier *out, size_t *consumed) {
    if (size < 1) return refuse("truncated", 0);
    if (data[0] != 1 && data[0] != 2) return refuse("bad-kind", 0);
    if (size < 2) return refuse("truncated", 1);
    *out = (Identifier){KINDS[data[0]], data + 2, data[1]};
    if (out->length == 0 || (data[0] == 1 && out->length != 4)) return refuse("bad-length", 1);
    if (out->length > size - 2) return refuse("truncated", 2);
    if (data[0] == 2 && !is_utf8(out->value, out->length)) return refuse("bad-utf8", 2);
    if (data[0] == 1 && !zero_is_a_name && !memcmp(out->value, "\0\0\0\0", 4)) return refuse("invalid-value", 2);
    *consumed = 2 + out->length;
    return FINE;
}

/* The bytes of a value: `kind` and the hex of its content; at most 257 of them go to `wire`. */
static Refused encode(int zero_is_a_name, const char *kind, const char *hex, uint8_t *wire, size_t *size) {
    Identifier back;
    size_t length = strlen(hex) / 2, consumed;
    if (length > 255) return refuse("invalid-value", 0);
    wire[0] = !strcmp(kind, "numeric") ? 1 : !strcmp(kind, "string") ? 2 : 0;
    wire[1] = (uint8_t)length;
    for (size_t i = 0; i < length; i++) {
        unsigned byte;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1) return refuse("invalid-value", 0);
        wire[2 + i] = (uint8_t)byte;
    }
    *size = 2 + length; /* what does not decode again is no value */
    return decode(zero_is_a_name, wire, *size, &back, &consumed).class ? refuse("invalid-value", 0) : FINE;
}

/* --- the wire: u32 big-endian length, a JSON header of that length, then as many raw bytes as "blob" says --- */

/* Behind the JSON value that begins at `p`. */
static const char *past(const char *p) {
    int depth = 0;
    do {
        if (*p == '"') for (p++; *p && *p != '"'; p++) p += *p == '\\' && p[1];
        else if (*p == '{' || *p == '[') depth++;
        else if (*p == '}' || *p == ']') depth--;
        p += *p != 0;
    } while (*p && (depth > 0 || !strchr(",}]", *p)));
    return p;
}

/* Where the value of a member of the object at `p` begins; NULL: it has none. The suite writes no blanks and its
 * names need no escapes. A codec whose values are deeper than these wants a library: Debian has cJSON and jansson. */
static const char *member(const char *p, const char *name) {
    size_t n = strlen(name);
    for (p++; *p == '"'; p += *p == ',') {
        if (!strncmp(p + 1, name, n) && p[1 + n] == '"') return p + n + 3;
        p = past(strchr(p + 1, '"') + 2);
    }
    return NULL;
}

/* The text of a member, in memory that is the caller's; empty if there is none. */
static char *text(const char *object, const char *name) {
    const char *p = object ? member(object, name) : NULL;
    size_t n = p && *p == '"' ? strcspn(p + 1, "\"") : 0;
    char *copy = calloc(n + 1, 1);
    if (!copy) abort();
    return memcpy(copy, p ? p + 1 : "", n);
}

static void answer(const char *header, const void *blob, size_t size) {
    size_t n = strlen(header);
    uint8_t length[4] = {(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
    fwrite(length, 1, 4, stdout), fwrite(header, 1, n, stdout), fwrite(blob, 1, size, stdout), fflush(stdout);
}

static void asked(const char *head, const uint8_t *blob, size_t size) {
    char *id = text(head, "id"), *op = text(head, "op"), *format = text(head, "format"), *revision = text(head, "revision");
    char *kind = text(member(head, "value"), "kind"), *hex = text(member(head, "value"), "value"), said[1024], value[511] = "";
    int zero = strcmp(revision, "0.0.30") != 0; /* from 0.8 on the number 0 is a name */
    Identifier found = {0};
    uint8_t wire[257];
    size_t consumed = 0, written = 0;
    Refused no = !strcmp(op, "decode")   ? decode(zero, blob, size, &found, &consumed)
                 : !strcmp(op, "encode") ? encode(zero, kind, hex, wire, &written) : FINE;
    for (size_t i = 0; i < found.length && !no.class; i++) sprintf(value + 2 * i, "%02x", found.value[i]);
    if (strcmp(format, "iggy.identifier") || (strcmp(op, "decode") && strcmp(op, "encode")))
        snprintf(said, sizeof said, "{\"id\":\"%s\",\"outcome\":\"unsupported\"}", id);
    else if (no.class)
        snprintf(said, sizeof said, "{\"id\":\"%s\",\"outcome\":\"refused\",\"class\":\"%s\",\"at\":%zu}", id, no.class, no.at);
    else if (!strcmp(op, "decode"))
        snprintf(said, sizeof said, "{\"id\":\"%s\",\"outcome\":\"accepted\",\"consumed\":%zu,\"value\":"
                 "{\"kind\":\"%s\",\"value\":\"%s\"}}", id, consumed, found.kind, value);
    else
        snprintf(said, sizeof said, "{\"id\":\"%s\",\"outcome\":\"accepted\",\"blob\":%zu}", id, written);
    answer(said, wire, no.class ? 0 : written);
    free(id), free(op), free(format), free(revision), free(kind), free(hex);
}

int main(void) {
    uint8_t length[4];
    while (fread(length, 1, 4, stdin) == 4) {
        size_t n = (size_t)length[0] << 24 | length[1] << 16 | length[2] << 8 | length[3], size = 0;
        char *head = calloc(n + 1, 1);
        if (!head || fread(head, 1, n, stdin) != n) return 1;
        if (member(head, "blob")) size = strtoul(member(head, "blob"), NULL, 10);
        uint8_t *blob = malloc(size + 1);
        if (!blob || fread(blob, 1, size, stdin) != size) return 1;
        if (member(head, "hello")) answer(HELLO, "", 0);
        else asked(head, blob, size);
        free(blob), free(head);
    }
    return 0;
}

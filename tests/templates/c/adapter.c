// An adapter for wireproof: one file of C99 and nothing beside the C library.
//
//     cc -O2 -o adapter adapter.c && wireproof check 'exec:./adapter' --run 'iggy.identifier/**'
//
// As it stands it is a whole codec of a small format, Iggy's identifier: kind (1 byte), length (1 byte), value.
// Put yours in its place: IDENTITY, CLAIMS, decode, encode. What is below "the wire" can stay as it is.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* errors: "exact": the classes of refusals are judged too; "coarse": only that it refuses; "none": no reasons. */
#define IDENTITY "\"name\":\"my-codec\",\"version\":\"1.0\",\"errors\":\"exact\""

/* The class of a refusal in the contract's words, and where; NULL: none. */
typedef struct { const char *class; size_t at; } Refused;
static const Refused FINE = {NULL, 0};
static Refused refuse(const char *class, size_t at) { return (Refused){class, at}; }

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

/* The text of a member, in memory that the caller frees; empty if there is none. */
static char *text(const char *object, const char *name) {
    const char *p = object ? member(object, name) : NULL;
    size_t n = p && *p == '"' ? strcspn(p + 1, "\"") : 0;
    char *copy = calloc(n + 1, 1);
    if (!copy) abort();
    return memcpy(copy, p ? p + 1 : "", n);
}

/* --- the codec: yours goes here --- */

/* What the codec can do, by format and revision (`wireproof show` lists them). Only what is claimed is asked.
 * May hold more: codecs, profiles, features, and observes, the fields that it shows, if not all. */
#define OPS "[\"decode\",\"encode\"]"
#define CLAIMS "{\"iggy.identifier/0.0.30\":{\"ops\":" OPS "},\"iggy.identifier/0.8\":{\"ops\":" OPS "}}"

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

/* The value that stands at the start of `data`, as JSON in memory that the caller frees, and how many bytes it takes. */
static Refused decode(const char *revision, const uint8_t *data, size_t size, char **json, size_t *consumed) {
    if (size < 1) return refuse("truncated", 0);
    if (data[0] != 1 && data[0] != 2) return refuse("bad-kind", 0);
    if (size < 2) return refuse("truncated", 1);
    const uint8_t *value = data + 2;
    size_t length = data[1];
    if (length == 0 || (data[0] == 1 && length != 4)) return refuse("bad-length", 1);
    if (length > size - 2) return refuse("truncated", 2);
    if (data[0] == 2 && !is_utf8(value, length)) return refuse("bad-utf8", 2);
    if (data[0] == 1 && !strcmp(revision, "0.0.30") && !memcmp(value, "\0\0\0\0", 4)) return refuse("invalid-value", 2);
    *json = malloc(64 + 2 * length);
    int at = sprintf(*json, "{\"kind\":\"%s\",\"value\":\"", KINDS[data[0]]);
    for (size_t i = 0; i < length; i++) at += sprintf(*json + at, "%02x", value[i]);
    strcpy(*json + at, "\"}");
    *consumed = 2 + length;
    return FINE;
}

/* The bytes of a value, which is JSON, in memory that the caller frees. */
static Refused encode(const char *revision, const char *value, uint8_t **wire, size_t *size) {
    char *kind = text(value, "kind"), *hex = text(value, "value"), *json = NULL;
    size_t length = strlen(hex) / 2, consumed;
    *size = 2 + length, *wire = malloc(*size);
    (*wire)[0] = !strcmp(kind, "numeric") ? 1 : !strcmp(kind, "string") ? 2 : 0;
    (*wire)[1] = (uint8_t)length;
    for (size_t i = 0; i < length; i++) sscanf(hex + 2 * i, "%2hhx", &(*wire)[2 + i]);
    int fine = length < 256 && !decode(revision, *wire, *size, &json, &consumed).class;
    free(kind), free(hex), free(json);
    return fine ? FINE : refuse("invalid-value", 0); /* what does not decode again is no value */
}

/* --- the wire: u32 big-endian length, a JSON header of that length, then as many raw bytes as "blob" says --- */

static const char HELLO[] = "{\"hello\":{\"protocol\":1," IDENTITY ",\"window\":1,\"revisions\":" CLAIMS "}}";

static void answer(const char *header, const void *blob, size_t size) {
    size_t n = strlen(header);
    uint8_t length[4] = {(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
    fwrite(length, 1, 4, stdout), fwrite(header, 1, n, stdout), fwrite(blob, 1, size, stdout), fflush(stdout);
}

static void asked(const char *head, const uint8_t *blob, size_t size) {
    char *id = text(head, "id"), *op = text(head, "op"), *format = text(head, "format"), *revision = text(head, "revision");
    char *json = NULL;
    uint8_t *wire = NULL;
    size_t consumed = 0, written = 0;
    int claimed = strstr(CLAIMS, format) && strstr(OPS, op);
    Refused no = !claimed                ? FINE
                 : !strcmp(op, "decode") ? decode(revision, blob, size, &json, &consumed)
                                         : encode(revision, member(head, "value"), &wire, &written);
    char *said = malloc(256 + strlen(id) + (json ? strlen(json) : 0));
    int n = sprintf(said, "{\"id\":\"%s\",\"outcome\":", id);
    if (!claimed) sprintf(said + n, "\"unsupported\"}");
    else if (no.class) sprintf(said + n, "\"refused\",\"class\":\"%s\",\"at\":%zu}", no.class, no.at);
    else if (json) sprintf(said + n, "\"accepted\",\"consumed\":%zu,\"value\":%s}", consumed, json);
    else sprintf(said + n, "\"accepted\",\"blob\":%zu}", written);
    answer(said, wire, no.class ? 0 : written);
    free(id), free(op), free(format), free(revision), free(json), free(wire), free(said);
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

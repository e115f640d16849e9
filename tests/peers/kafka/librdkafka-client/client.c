/* A client of librdkafka: `client consume ADDRESS TOPIC ISOLATION OFFSET`, `client produce ADDRESS TOPIC CODEC MODE`. */
#include <cJSON.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {NULL, "CreateTime", "LogAppendTime"};

/* Print one line of JSON, and free it. */
static void show(cJSON *line) {
    char *text = cJSON_PrintUnformatted(line);
    puts(text);
    fflush(stdout);
    free(text);
    cJSON_Delete(line);
}

static void show_text(const char *name, const char *text) {
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, name, text);
    show(line);
}

static void show_number(cJSON *line, const char *name, int64_t number) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)number);
    cJSON_AddStringToObject(line, name, text);
}

/* Return bytes as hex, or null. */
static cJSON *hexed(const void *data, size_t size) {
    if (data == NULL)
        return cJSON_CreateNull();
    char *text = calloc(2 * size + 1, 1);
    for (size_t i = 0; i < size; i++)
        sprintf(text + 2 * i, "%02x", ((const unsigned char *)data)[i]);
    cJSON *hex = cJSON_CreateString(text);
    free(text);
    return hex;
}

/* Return the name of a header, each byte that is not ASCII as U+DC00 plus the byte, for it need not be UTF-8. */
static cJSON *named(const char *name) {
    char *text = calloc(6 * strlen(name) + 3, 1), *end = text;
    *end++ = '"';
    for (const unsigned char *at = (const unsigned char *)name; *at; at++)
        end += sprintf(end, *at < 0x20 || *at > 0x7e || *at == '"' || *at == '\\' ? "\\u%s%02x" : "%.0s%c", *at < 0x80 ? "00" : "dc", *at);
    *end = '"';
    cJSON *json = cJSON_CreateRaw(text);
    free(text);
    return json;
}

/* Return the bytes of hex, or NULL; the caller frees them. */
static unsigned char *unhexed(const cJSON *text, size_t *size) {
    *size = cJSON_IsString(text) ? strlen(text->valuestring) / 2 : 0;
    if (!cJSON_IsString(text))
        return NULL;
    unsigned char *data = malloc(*size + 1);
    for (size_t i = 0; i < *size; i++)
        sscanf(text->valuestring + 2 * i, "%2hhx", data + i);
    return data;
}

/* Return a client with options, name after name and value. */
static rd_kafka_t *opened(rd_kafka_type_t type, const char *const *options, rd_kafka_conf_t *conf) {
    char text[512];
    for (; *options != NULL; options += 2)
        if (rd_kafka_conf_set(conf, options[0], options[1], text, sizeof text) != RD_KAFKA_CONF_OK)
            show_text("error", text);
    rd_kafka_t *client = rd_kafka_new(type, conf, text, sizeof text);
    if (client == NULL) {
        show_text("error", text);
        exit(1);
    }
    return client;
}

static void show_record(const rd_kafka_message_t *r) {
    rd_kafka_timestamp_type_t kind;
    rd_kafka_headers_t *all;
    const char *name;
    const void *value;
    size_t size;
    rd_kafka_resp_err_t err = rd_kafka_message_headers(r, &all);
    if (err != 0 && err != RD_KAFKA_RESP_ERR__NOENT) { // the headers are read here, and may be broken
        show_text("error", rd_kafka_err2str(err));
        return;
    }
    cJSON *line = cJSON_CreateObject(), *headers = cJSON_CreateArray();
    show_number(line, "offset", r->offset);
    int64_t when = rd_kafka_message_timestamp(r, &kind);
    show_number(line, "timestamp", kind == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? -1 : when);
    cJSON_AddItemToObject(line, "timestampType", kinds[kind] ? cJSON_CreateString(kinds[kind]) : cJSON_CreateNull());
    cJSON_AddItemToObject(line, "key", hexed(r->key, r->key_len));
    cJSON_AddItemToObject(line, "value", hexed(r->payload, r->len));
    for (size_t i = 0; err == 0 && rd_kafka_header_get_all(all, i, &name, &value, &size) == 0; i++) {
        cJSON *pair = cJSON_CreateArray();
        cJSON_AddItemToArray(pair, named(name));
        cJSON_AddItemToArray(pair, hexed(value, size));
        cJSON_AddItemToArray(headers, pair);
    }
    cJSON_AddItemToObject(line, "headers", headers);
    show(line);
}

/* Print the records of partition 0 from an offset on, for ever. */
static void consume(const char *address, const char *topic, const char *isolation, const char *offset) {
    const char *options[] = {"bootstrap.servers", address, "group.id", topic, "isolation.level", isolation, "check.crcs", "true",
                             "enable.auto.commit", "false", "auto.offset.reset", "error", NULL};
    rd_kafka_t *consumer = opened(RD_KAFKA_CONSUMER, options, rd_kafka_conf_new());
    rd_kafka_poll_set_consumer(consumer);
    rd_kafka_topic_partition_list_t *start = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(start, topic, 0)->offset = strtoll(offset, NULL, 10);
    rd_kafka_assign(consumer, start);
    for (;;) {
        rd_kafka_message_t *r = rd_kafka_consumer_poll(consumer, 100);
        if (r != NULL && r->err != 0)
            show_text("error", rd_kafka_message_errstr(r));
        else if (r != NULL)
            show_record(r);
        if (r != NULL)
            rd_kafka_message_destroy(r);
    }
}

/* Print the answer to one record. */
static void answer(rd_kafka_t *producer, const rd_kafka_message_t *r, void *opaque) {
    (void)producer, (void)opaque;
    cJSON *line = cJSON_CreateObject();
    if (r->err != 0)
        cJSON_AddStringToObject(line, "error", rd_kafka_err2str(r->err));
    else
        show_number(line, "offset", r->offset);
    show(line);
}

/* Hand the record of a line to the producer. */
static void send_record(rd_kafka_t *producer, const char *topic, const cJSON *line) {
    size_t key_size, value_size, size;
    unsigned char *key = unhexed(cJSON_GetObjectItem(line, "key"), &key_size);
    unsigned char *value = unhexed(cJSON_GetObjectItem(line, "value"), &value_size);
    const cJSON *pair, *when = cJSON_GetObjectItem(line, "timestamp");
    rd_kafka_headers_t *headers = rd_kafka_headers_new(1);
    cJSON_ArrayForEach(pair, cJSON_GetObjectItem(line, "headers")) {
        unsigned char *data = unhexed(cJSON_GetArrayItem(pair, 1), &size);
        rd_kafka_header_add(headers, cJSON_GetArrayItem(pair, 0)->valuestring, -1, data, (ssize_t)size);
        free(data);
    }
    rd_kafka_resp_err_t error = rd_kafka_producev(
        producer, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(0), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY(key, key_size), RD_KAFKA_V_VALUE(value, value_size), RD_KAFKA_V_HEADERS(headers),
        RD_KAFKA_V_TIMESTAMP((when != NULL ? strtoll(when->valuestring, NULL, 10) : 0)), RD_KAFKA_V_END);
    if (error != 0)
        show_text("error", rd_kafka_err2str(error));
    free(key), free(value);
}

/* Show the error of a call for transactions, if there is one. */
static void check(rd_kafka_error_t *error) {
    if (error != NULL)
        show_text("error", rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
}

/* Hand the records of stdin to the producer; print the answers at each flush. */
static void produce(const char *address, const char *topic, const char *codec, const char *mode) {
    int transactional = strcmp(mode, "transactional") == 0;
    const char *options[] = {"bootstrap.servers", address, "compression.type", codec, "linger.ms", "30000", "batch.size", "16777216",
                             "batch.num.messages", "1000000", "message.max.bytes", "33554432",
                             "queue.buffering.max.messages", "1000000",
                             "enable.idempotence", strcmp(mode, "plain") == 0 ? "false" : "true",
                             transactional ? "transactional.id" : NULL, topic, NULL};
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_dr_msg_cb(conf, answer);
    rd_kafka_t *producer = opened(RD_KAFKA_PRODUCER, options, conf);
    const struct rd_kafka_metadata *known; /* until it knows the partition it may split what lingers */
    if (rd_kafka_metadata(producer, 0, rd_kafka_topic_new(producer, topic, NULL), &known, 60000) == 0)
        rd_kafka_metadata_destroy(known);
    if (transactional)
        check(rd_kafka_init_transactions(producer, -1));
    char *text = NULL;
    for (size_t room = 0; getline(&text, &room, stdin) > 0;) {
        cJSON *line = cJSON_Parse(text);
        if (cJSON_HasObjectItem(line, "begin"))
            check(rd_kafka_begin_transaction(producer));
        else if (cJSON_HasObjectItem(line, "commit"))
            check(rd_kafka_commit_transaction(producer, -1));
        else if (cJSON_HasObjectItem(line, "abort"))
            check(rd_kafka_abort_transaction(producer, -1));
        else if (cJSON_HasObjectItem(line, "flush"))
            rd_kafka_flush(producer, 60000);
        else
            send_record(producer, topic, line);
        cJSON_Delete(line);
    }
}

int main(int count, char **words) {
    if (count == 6)
        (strcmp(words[1], "consume") == 0 ? consume : produce)(words[2], words[3], words[4], words[5]);
    return count != 6;
}

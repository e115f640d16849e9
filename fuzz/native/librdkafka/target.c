/* The reader of message sets of librdkafka: the field of a fetch response, as a partition of a consumer gets it.
 *
 * The function is internal, so that the target is compiled with the headers of librdkafka's source (build.sh).
 * The consumer has no broker; all partitions of a process are one, which begins at offset 0 for each input.
 * A failed assertion is told once for each place and ends the input, not the fuzzer, because this target measures
 * how far a fuzzer gets: what the input has allocated is lost.
 */
#include "rd.h"
#include "rdkafka_int.h"
#include "rdkafka_broker.h"
#include "rdkafka_buf.h"
#include "rdkafka_msgset.h"
#include "rdkafka_partition.h"
#include "rdkafka_topic.h"

#include <setjmp.h>

static rd_kafka_t *consumer;
static rd_kafka_toppar_t *partition;
static jmp_buf before_input;
static _Thread_local int reads_input;

static void tell_once(const char *file, unsigned int line, const char *text) {
  static unsigned int told[64], count; /* lines of different files that are alike count as one */
  for (unsigned int i = 0; i < count; i++)
    if (told[i] == line) return;
  if (count < sizeof told / sizeof *told) told[count++] = line;
  fprintf(stderr, "finding: assertion at %s:%u: %s\n", file, line, text);
}

/* Replaces the function of the C library, which ends the process. */
void __assert_fail(const char *text, const char *file, unsigned int line, const char *function) {
  tell_once(file, line, text);
  if (reads_input) longjmp(before_input, 1);
  fprintf(stderr, "in %s\n", function);
  abort();
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value) {
  char why[256];
  if (rd_kafka_conf_set(conf, name, value, why, sizeof why) != RD_KAFKA_CONF_OK) {
    fprintf(stderr, "%s\n", why);
    exit(2);
  }
}

int LLVMFuzzerInitialize(int *count, char ***words) {
  char why[256];
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  (void)count, (void)words;
  set(conf, "check.crcs", "true"); /* readers check them; this one does only if it is asked to */
  set(conf, "log_level", "0");
  consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
  if (consumer == NULL) {
    fprintf(stderr, "%s\n", why);
    exit(2);
  }
  rd_kafka_topic_t *topic = rd_kafka_topic_new(consumer, "fuzz", NULL);
  rd_kafka_topic_wrlock(rd_kafka_topic_proper(topic));
  partition = rd_kafka_toppar_desired_add(rd_kafka_topic_proper(topic), 0);
  rd_kafka_topic_wrunlock(rd_kafka_topic_proper(topic));
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct rd_kafka_toppar_ver version = {.rktp = partition, .version = 1};
  if (size == 0) return 0; /* the buffers of librdkafka are never empty */
  void *own = rd_memdup(data, size); /* it may be written to, as what came from a socket */
  rd_kafka_buf_t *response = rd_kafka_buf_new_shadow(own, size, rd_free);
  rd_kafka_buf_t *request = rd_kafka_buf_new_shadow(data, 1, NULL);
  response->rkbuf_rkb = rd_kafka_broker_internal(consumer);
  partition->rktp_offsets.fetch_pos.offset = 0;
  partition->rktp_fetch_msg_max_bytes = 1 << 20;
  reads_input = 1;
  if (setjmp(before_input) == 0) rd_kafka_msgset_parse(response, request, partition, NULL, &version);
  reads_input = 0;
  rd_kafka_q_purge(partition->rktp_fetchq);
  rd_kafka_buf_destroy(request);
  rd_kafka_buf_destroy(response);
  return 0;
}

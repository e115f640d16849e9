/* SPDX-License-Identifier: Apache-2.0
 *
 * The field-aware mutator of wireproof for libFuzzer and cargo-fuzz. Link this file into the target: libFuzzer
 * calls the two functions at its end. They ask a Python process, which lives as long as the fuzzer does.
 *
 *   WIREPROOF_FORMAT   the format that the target reads, such as kafka.batch/v2; without it libFuzzer mutates
 *   WIREPROOF_MUTATOR  the command of the process; default `exec python3 -m wireproof.fuzz.mutator_process`
 *
 * wireproof.fuzz.mutator_process describes the messages. If the process cannot be asked, the fuzzer ends with
 * exit code 3 and a line that says so, which is no finding about the target.
 */

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* macOS has a socket option instead */
#endif

#ifdef __cplusplus
extern "C" {
#endif

extern char **environ;
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *two, size_t two_size,
                                 uint8_t *out, size_t max_out_size, unsigned int seed);

enum { MUTATE = 0, FIX_UP = 1, CROSS_OVER = 2 };
enum { HEADER = 17, DIE = 3, SHARES = 16 };

/* Of SHARES mutations, so many are libFuzzer's own: as they are, and with lengths and checksums fixed up. Of SHARES
 * combinations of two inputs, so many are made; for the others libFuzzer mutates, which it would do too rarely. */
enum { NATIVE = 8, NATIVE_FIXED_UP = 1, CROSSED = 1 };

static int connection = -1;

static void die(const char *what) {
  if (errno == EPIPE || errno == ECONNRESET) errno = 0;
  fprintf(stderr, "wireproof mutator: %s: %s\n", what, errno ? strerror(errno) : "the process has ended");
  fprintf(stderr, "wireproof mutator: pip install wireproof, or name the command in WIREPROOF_MUTATOR\n");
  _exit(DIE);
}

static void start(void) {
  const char *command = getenv("WIREPROOF_MUTATOR");
  char shell[] = "sh", option[] = "-c", *words[4] = {shell, option, NULL, NULL};
  posix_spawn_file_actions_t actions;
  int pair[2];
  pid_t child;
  words[2] = strdup(command ? command : "exec python3 -m wireproof.fuzz.mutator_process");
  if (words[2] == NULL || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) die("no connection");
  fcntl(pair[0], F_SETFD, FD_CLOEXEC);
  fcntl(pair[1], F_SETFD, FD_CLOEXEC);
#ifdef SO_NOSIGPIPE
  int on = 1;
  setsockopt(pair[0], SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pair[1], 0);
  posix_spawn_file_actions_adddup2(&actions, pair[1], 1);
  errno = posix_spawn(&child, "/bin/sh", &actions, NULL, words, environ);
  if (errno != 0) die("no process");
  posix_spawn_file_actions_destroy(&actions);
  close(pair[1]);
  free(words[2]);
  connection = pair[0];
}

static void send_all(const uint8_t *data, size_t size) {
  while (size > 0) {
    ssize_t done = send(connection, data, size, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) die("cannot send");
    data += done;
    size -= (size_t)done;
  }
}

static void receive_all(uint8_t *data, size_t size) {
  while (size > 0) {
    ssize_t done = recv(connection, data, size, 0);
    if (done < 0 && errno == EINTR) continue;
    if (done == 0) errno = 0;
    if (done <= 0) die("cannot receive");
    data += done;
    size -= (size_t)done;
  }
}

static void put32(uint8_t *at, size_t number) {
  int byte;
  for (byte = 0; byte < 4; byte++) at[byte] = (uint8_t)(number >> (8 * byte));
}

/* Ask the process, and write its answer to `out`. */
static size_t ask(int what, const uint8_t *one, size_t one_size, const uint8_t *two, size_t two_size, uint8_t *out,
                  size_t max_size, unsigned int seed) {
  uint8_t header[HEADER], length[4];
  size_t size;
  if (connection < 0) start();
  header[0] = (uint8_t)what;
  put32(header + 1, seed);
  put32(header + 5, max_size);
  put32(header + 9, one_size);
  put32(header + 13, two_size);
  send_all(header, sizeof header);
  send_all(one, one_size);
  send_all(two, two_size);
  receive_all(length, sizeof length);
  size = length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 | (size_t)length[3] << 24;
  errno = EMSGSIZE;
  if (size > max_size) die("an answer is too long");
  receive_all(out, size);
  return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  unsigned int share = seed % SHARES;
  if (getenv("WIREPROOF_FORMAT") == NULL || share < NATIVE) return LLVMFuzzerMutate(data, size, max_size);
  if (share >= NATIVE + NATIVE_FIXED_UP) return ask(MUTATE, data, size, NULL, 0, data, max_size, seed);
  size = LLVMFuzzerMutate(data, size, max_size);
  return ask(FIX_UP, data, size, NULL, 0, data, max_size, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *two, size_t two_size,
                                 uint8_t *out, size_t max_out_size, unsigned int seed) {
  if (getenv("WIREPROOF_FORMAT") == NULL || seed % SHARES >= CROSSED) return 0;
  return ask(CROSS_OVER, one, one_size, two, two_size, out, max_out_size, seed);
}

#ifdef __cplusplus
}
#endif

/* Ask lua_sandbox's reader of Heka messages: a message in hex a line; answers 1 if it takes it, 0 if it refuses it. */

#include <luasandbox/util/heka_message.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t from_hex(const char *line, char *data)
{
  size_t size = strcspn(line, "\n") / 2;
  for (size_t i = 0; i < size; i++) {
    unsigned octet;
    if (sscanf(line + 2 * i, "%2x", &octet) != 1) exit(2);
    data[i] = (char)octet;
  }
  return size;
}

int main(void)
{
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, stdin) > 0) {
    char *data = malloc(room);
    lsb_heka_message message;
    if (!data || lsb_init_heka_message(&message, 8)) return 2;
    printf("%d\n", lsb_decode_heka_message(&message, data, from_hex(line, data), NULL));
    lsb_free_heka_message(&message);
    free(data);
  }
  free(line);
  return 0;
}

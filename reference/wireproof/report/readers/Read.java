// SPDX-License-Identifier: Apache-2.0
// Read an export of wireproof: `java readers/Read.java`. Prints the number of cases and a digest of all.
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

public final class Read {
  /** Each line begins with id and file; use the JSON library of your project for everything else. */
  private static final Pattern HEAD = Pattern.compile("\\{\"id\":\"([^\"]+)\"(?:,\"file\":\"([^\"]+)\")?,.*");

  public static void main(String[] words) throws IOException {
    CRC32 digest = new CRC32();
    int count = 0;
    for (String line : Files.readAllLines(Path.of("cases.ndjson"))) {
      Matcher head = HEAD.matcher(line);
      if (!head.matches()) throw new IOException("no case: " + line);
      byte[] data = head.group(2) == null ? new byte[0] : Files.readAllBytes(Path.of(head.group(2)));
      // your codec here: "op" and "format" say what to do with `data` (of "input" for an encode),
      // "expect" what must come of it: "accept", "reject", or "either" of some behaviours
      digest.update((head.group(1) + "\n").getBytes(StandardCharsets.UTF_8));
      digest.update(data);
      count++;
    }
    System.out.printf("%d %08x%n", count, digest.getValue());
  }
}

// An adapter for wireproof: one file of Java 17, and Gson.
//
//     mvn -q package && wireproof check 'exec:java -jar target/adapter.jar' --run 'iggy.identifier/**'
//
// As it stands it is a whole codec of a small format, Iggy's identifier: kind (1 byte), length (1 byte), value.
// Put yours in its place: NAME, VERSION, CLAIMS, decode, encode. What is below "the wire" can stay as it is.

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

public final class Adapter {
  static final String NAME = "my-codec";
  static final String VERSION = "1.0";

  /** "exact": the classes of refusals are judged too; "coarse": only that it refuses; "none": it has no reasons. */
  static final String ERRORS = "exact";

  /** Bytes or a value that the codec does not take: a class of the contract, where, and a text. */
  static final class Refused extends Exception {
    final String cls;
    final int at;

    Refused(String cls, int at, String text) {
      super(text);
      this.cls = cls;
      this.at = at;
    }
  }

  // --- the codec: yours goes here ---

  /** What the codec can do, by format and revision (`wireproof show` lists them). Only what is claimed is asked.
   * May hold more: codecs, profiles, features, and observes, the fields that it shows, if not all. */
  static final Map<String, Map<String, List<String>>> CLAIMS = Map.of(
      "iggy.identifier/0.0.30", Map.of("ops", List.of("decode", "encode")),
      "iggy.identifier/0.8", Map.of("ops", List.of("decode", "encode")));

  static final List<String> KINDS = List.of("", "numeric", "string");

  /** A value in the form of its JSON Schema: bytes and text are lower-case hex. */
  record Identifier(String kind, String value) {}

  record Decoded(Object value, int consumed) {}

  /** The value that stands at the start of the data, and how many bytes it takes. */
  static Decoded decode(String revision, byte[] data) throws Refused {
    if (data.length < 1) throw new Refused("truncated", 0, "no kind");
    if (data[0] != 1 && data[0] != 2) throw new Refused("bad-kind", 0, "kind " + data[0]);
    if (data.length < 2) throw new Refused("truncated", 1, "no length");
    String kind = KINDS.get(data[0]);
    int length = Byte.toUnsignedInt(data[1]);
    if (length == 0 || (kind.equals("numeric") && length != 4)) {
      throw new Refused("bad-length", 1, kind + " of " + length + " bytes");
    }
    if (length > data.length - 2) throw new Refused("truncated", 2, length + " bytes announced");
    byte[] content = Arrays.copyOfRange(data, 2, 2 + length);
    if (kind.equals("string") && !isUtf8(content)) throw new Refused("bad-utf8", 2, "no UTF-8");
    if (kind.equals("numeric") && revision.equals("0.0.30") && ByteBuffer.wrap(content).getInt() == 0) {
      throw new Refused("invalid-value", 2, "0 names nothing before 0.8");
    }
    return new Decoded(new Identifier(kind, HexFormat.of().formatHex(content)), 2 + length);
  }

  /** The bytes of a value in the form that decode gives it. */
  static byte[] encode(String revision, JsonElement json) throws Refused {
    Identifier value = GSON.fromJson(json, Identifier.class);
    byte[] content = HexFormat.of().parseHex(value.value());
    if (content.length > 255) throw new Refused("invalid-value", 0, content.length + " bytes");
    byte[] wire = ByteBuffer.allocate(2 + content.length).put((byte) KINDS.indexOf(value.kind()))
        .put((byte) content.length).put(content).array();
    try {
      decode(revision, wire);
    } catch (Refused no) { // what does not decode again is no value
      throw new Refused("invalid-value", 0, no.getMessage());
    }
    return wire;
  }

  static boolean isUtf8(byte[] data) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(data));
      return true;
    } catch (CharacterCodingException no) {
      return false;
    }
  }

  // --- the wire: u32 big-endian length, a JSON header of that length, then as many raw bytes as "blob" says ---

  static final Gson GSON = new Gson();

  /** The answer to one request; bytes go to `blob`. */
  static Map<String, ?> answer(JsonObject head, byte[] data, ByteArrayOutputStream blob) {
    if (head.has("hello")) {
      return Map.of("hello", Map.of("protocol", 1, "name", NAME, "version", VERSION, "revisions", CLAIMS,
          "errors", ERRORS, "window", 64));
    }
    String id = head.get("id").getAsString(), op = head.get("op").getAsString(), revision = head.get("revision").getAsString();
    Map<String, List<String>> claim = CLAIMS.get(head.get("format").getAsString() + "/" + revision);
    try {
      if (claim == null || !claim.get("ops").contains(op)) return Map.of("id", id, "outcome", "unsupported");
      if (op.equals("decode")) {
        Decoded found = decode(revision, data);
        return Map.of("id", id, "outcome", "accepted", "value", found.value(), "consumed", found.consumed());
      }
      blob.writeBytes(encode(revision, head.get("value")));
      return Map.of("id", id, "outcome", "accepted", "blob", blob.size());
    } catch (Refused no) {
      return Map.of("id", id, "outcome", "refused", "class", no.cls, "at", no.at, "text", no.getMessage());
    } catch (RuntimeException | StackOverflowError no) { // nothing that the codec documents: say so
      return Map.of("id", id, "outcome", "refused", "class", "other", "text", String.valueOf(no), "untyped", true);
    }
  }

  public static void main(String[] words) throws IOException {
    DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
    DataOutputStream out = new DataOutputStream(new FileOutputStream(FileDescriptor.out));
    while (true) {
      byte[] header;
      try {
        header = new byte[in.readInt()];
      } catch (EOFException end) {
        return;
      }
      in.readFully(header);
      JsonObject head = JsonParser.parseString(new String(header, StandardCharsets.UTF_8)).getAsJsonObject();
      ByteArrayOutputStream blob = new ByteArrayOutputStream();
      byte[] said = GSON.toJson(answer(head, in.readNBytes(head.has("blob") ? head.get("blob").getAsInt() : 0), blob))
          .getBytes(StandardCharsets.UTF_8);
      out.write(ByteBuffer.allocate(4 + said.length + blob.size()).putInt(said.length).put(said).put(blob.toByteArray()).array());
    }
  }
}

package wireproof.peer;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonPrimitive;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.iggy.message.HeaderKind;
import org.apache.iggy.message.HeaderValue;

/** Numbers of header values, by the library's accessors: there are none for 64 bits without a sign, and for 128. */
final class Typed {
    private static final Map<HeaderKind, Function<HeaderValue, JsonElement>> ACCESSORS = new EnumMap<>(Map.of(
            HeaderKind.Bool, one -> new JsonPrimitive(one.asBool()),
            HeaderKind.Int8, one -> digits(one.asInt8()),
            HeaderKind.Int16, one -> digits(one.asInt16()),
            HeaderKind.Int32, one -> digits(one.asInt32()),
            HeaderKind.Int64, one -> digits(one.asInt64()),
            HeaderKind.Uint8, one -> digits(one.asUint8()),
            HeaderKind.Uint16, one -> digits(one.asUint16()),
            HeaderKind.Uint32, one -> digits(one.asUint32()),
            HeaderKind.Float32, one -> decimal(one.asFloat32()),
            HeaderKind.Float64, one -> decimal(one.asFloat64())));

    private static final int MOST_DIGITS = 17;

    private Typed() {}

    static boolean shows(HeaderKind kind) {
        return ACCESSORS.containsKey(kind);
    }

    /** What the accessor of the kind returns; null where it refuses the bytes. */
    static JsonElement of(HeaderValue value) {
        try {
            return ACCESSORS.get(value.kind()).apply(value);
        } catch (RuntimeException refused) {
            return JsonNull.INSTANCE;
        }
    }

    /** The fields that an answer has: each of a message but numbers, and those of the kinds with an accessor. */
    static List<String> observes() {
        Stream<String> numbers = ACCESSORS.keySet().stream().map(kind -> kind.name().toLowerCase(Locale.ROOT))
                .map("messages[].headers[][kind=%s].typed"::formatted);
        return Stream.concat(Stream.of("partition_id", "current_offset", "messages"), numbers).toList();
    }

    private static JsonElement digits(long number) {
        return new JsonPrimitive(Long.toString(number));
    }

    private static JsonElement decimal(float number) {
        return Float.isFinite(number)
                ? shortest(new BigDecimal(number), number == 0 && 1 / number < 0, text -> text.floatValue() == number)
                : special(number);
    }

    private static JsonElement decimal(double number) {
        return Double.isFinite(number)
                ? shortest(new BigDecimal(number), number == 0 && 1 / number < 0, text -> text.doubleValue() == number)
                : special(number);
    }

    /** The shortest text without exponent that reads back: {@code toString} of Java 17 may have a digit more. */
    private static JsonElement shortest(BigDecimal exact, boolean minusZero, Function<BigDecimal, Boolean> same) {
        for (int digits = 1; digits < MOST_DIGITS; digits++) {
            BigDecimal rounded = exact.round(new MathContext(digits));
            if (same.apply(rounded)) {
                return new JsonPrimitive((minusZero ? "-" : "") + rounded.stripTrailingZeros().toPlainString());
            }
        }
        return new JsonPrimitive(exact.round(new MathContext(MOST_DIGITS)).stripTrailingZeros().toPlainString());
    }

    private static JsonElement special(double number) {
        return new JsonPrimitive(Double.isNaN(number) ? "NaN" : number > 0 ? "inf" : "-inf");
    }
}

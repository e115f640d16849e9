"""Client programs for tests, by the public interface of kafka-python."""

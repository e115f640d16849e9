"""The properties are tested with the profile that `property_profile` loads."""

import property_profile  # noqa: F401 - to load it

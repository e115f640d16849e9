"""Any bytes looked at: their format, their entries, what is wrong with them, a whole data directory."""

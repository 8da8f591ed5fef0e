"""What people type into the settings."""

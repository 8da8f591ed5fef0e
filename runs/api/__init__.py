"""The part of the API that is about cards, configs and runs."""

"""The pages of the settings: the project, its members and trail; yourself; the service."""

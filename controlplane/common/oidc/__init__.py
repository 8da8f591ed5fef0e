"""Sign-in through the identity provider of an organisation (OpenID Connect), by django-allauth."""

"""What the pods call, with an attempt token."""

from django.urls import path

from checkpoints import pods

urlpatterns = [path("checkpoints/register", pods.register, name="register_checkpoint")]

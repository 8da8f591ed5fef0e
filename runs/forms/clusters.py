"""What the page asks for to register a cluster; the rules over the fields are the service's."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from runs.models import Cluster

WAYS = [
    (Cluster.Way.KUBECONFIG, _("A kubeconfig")),
    (Cluster.Way.TOKEN, _("Address and token of a service account")),
    (Cluster.Way.IN_CLUSTER, _("The cluster in which this service runs")),
]
# Never written back into the page, whatever else has to be typed again.
SECRETS = ("kubeconfig", "token")


class ClusterForm(forms.Form):
    name = forms.CharField(max_length=28)
    way = forms.ChoiceField(choices=WAYS)
    namespace = forms.CharField(required=False, max_length=63)
    image = forms.CharField(max_length=500)
    ingest_url = forms.CharField(required=False, max_length=300)
    kubeconfig = forms.CharField(required=False, max_length=1_000_000)
    url = forms.CharField(required=False, max_length=300)
    token = forms.CharField(required=False, max_length=20_000)
    ca_certificate = forms.CharField(required=False, max_length=100_000)

    def shown(self) -> dict[str, Any]:
        """Return what stands in the fields of the page: all but the secrets."""
        return {name: "" if name in SECRETS else self[name].value() or "" for name in self.fields}

    def refuse(self, fields: dict[str, list[str]], message: str) -> None:
        """Put what the service refused beside its fields."""
        for name, texts in fields.items():
            for text in texts:
                self.add_error(name if name in self.fields else None, text)
        if not fields:
            self.add_error(None, message)


def of(cluster: Cluster) -> dict[str, Any]:
    """Return what the form of a registered cluster begins with; its credentials stay where they are."""
    names = ("name", "way", "namespace", "image", "ingest_url")
    return {name: getattr(cluster, name) for name in names}

"""The forms a workload can take on a cluster; a file in this folder registers itself with `@form`."""

from workers.kube.forms import job, jobset, trainjob
from workers.kube.forms.base import FORMS, Form, form_of, served

__all__ = ["FORMS", "Form", "form_of", "job", "jobset", "served", "trainjob"]

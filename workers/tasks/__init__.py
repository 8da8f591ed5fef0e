"""The Celery tasks: each loads a record, calls a plain function, stores the result; a file here is enough."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

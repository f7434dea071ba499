"""The configuration: one frozen value, merged once.

Weakest layer first: defaults, user file, trusted workspace's file, environment, `initialize`.
"""

from sidecar.config.layers import Layer, Problem, merge
from sidecar.config.loading import (
    OPTIONS,
    environment_layer,
    load,
    options_layers,
    settings_files,
    user_file,
)
from sidecar.config.readers import Secret
from sidecar.config.settings import (
    DEFAULT_MODEL,
    OFFLINE_MODEL,
    Config,
    DelegateLimits,
    PermissionSettings,
    Provider,
    Retry,
    SnapshotSizes,
    default_data_dir,
    default_model,
)

__all__ = [
    "DEFAULT_MODEL",
    "OFFLINE_MODEL",
    "OPTIONS",
    "Config",
    "DelegateLimits",
    "Layer",
    "PermissionSettings",
    "Problem",
    "Provider",
    "Retry",
    "Secret",
    "SnapshotSizes",
    "default_data_dir",
    "default_model",
    "environment_layer",
    "load",
    "merge",
    "options_layers",
    "settings_files",
    "user_file",
]

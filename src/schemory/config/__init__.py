"""Settings and where they come from; the only reader of the environment (memory.md §3)."""

from schemory.config.environment import home_folder, process_environment, wants_colour
from schemory.config.keys import KEYS, PROFILES, TOOLSETS, SettingKey
from schemory.config.load import load_settings
from schemory.config.settings import DEFAULT_SPACE, Raw, Settings, mask_url

__all__ = [
    "DEFAULT_SPACE",
    "KEYS",
    "PROFILES",
    "TOOLSETS",
    "Raw",
    "SettingKey",
    "Settings",
    "home_folder",
    "load_settings",
    "mask_url",
    "process_environment",
    "wants_colour",
]

"""An add-on that extracts articles in another Scrapy project."""

from typing import Any, Final

from scrapy.extensions.feedexport import FeedExporter
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from newscrawl import config
from newscrawl import settings as ours
from newscrawl.crawl.exports import FeedExports

# Those of our pipelines that are useful in a project without our spiders.
_PIPELINES: Final = (
    "pipelines.extraction.ExtractionPipeline",
    "pipelines.mentions.MentionsPipeline",
    "pipelines.storage.StoragePipeline",
)
_PLAIN: Final = {
    "LOG_FORMATTER": ours.LOG_FORMATTER,
    "FEED_EXPORT_ENCODING": ours.FEED_EXPORT_ENCODING,
}


class NewscrawlAddon:
    """`ADDONS = {"newscrawl.crawl.addon.NewscrawlAddon": 300}` adds our pipelines in their order,
    the defaults of our settings, and our feed exports.

    The project's own settings are kept; a pipeline that it sets to None is left out.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the settings that the project doesn't have."""
        defaults: dict[str, Any] = {
            name: value for name, value in vars(config).items() if name.startswith("NEWSCRAWL_")
        }
        for name, value in {**defaults, **_PLAIN}.items():
            settings.set(name, value, "addon")
        for path in _PIPELINES:
            place = ours.ITEM_PIPELINES[path]
            settings.setdefault_in_component_priority_dict(
                "ITEM_PIPELINES", load_object(path), place
            )
        settings.setdefault_in_component_priority_dict("EXTENSIONS", FeedExporter, None)
        settings.setdefault_in_component_priority_dict("EXTENSIONS", FeedExports, 0)
        exporters = {**ours.FEED_EXPORTERS, **settings.getdict("FEED_EXPORTERS")}
        settings.set("FEED_EXPORTERS", exporters, settings.getpriority("FEED_EXPORTERS") or 0)

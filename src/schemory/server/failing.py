"""Notes failures in the log, which is set up only once there is something to note."""


def prepare_log(*, debug: bool = False) -> None:
    """Have whatever is logged from now on reach stderr in our form; does it once."""
    import logging  # noqa: PLC0415 (costs as much as a third of a start, and mostly nothing fails)

    from schemory.server.logs import configure_logging  # noqa: PLC0415 (as above)

    if not logging.getLogger().handlers:
        configure_logging(debug=debug)


def log_internal_error(error_id: str, fault: BaseException) -> None:
    """Note an unexpected failure under the id that the caller was told."""
    prepare_log()
    from schemory.server import logs  # noqa: PLC0415 (as above)

    logs.log_internal_error(error_id, fault)

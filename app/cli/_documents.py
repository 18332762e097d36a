"""How generated documents are written: with few lines, so that what changed shows, and the file stays small."""

import orjson


def written(value: object, levels: int) -> str:
    """JSON, keys sorted, with a line for each entry down to so many levels."""
    if not isinstance(value, dict) or not levels:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    lines = [f"{orjson.dumps(name).decode()}: {written(value[name], levels - 1)}" for name in sorted(value)]
    return "{\n" + ",\n".join(lines) + "\n}" if lines else "{}"

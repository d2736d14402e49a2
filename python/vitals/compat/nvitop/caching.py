"""A cache of a function's results that forgets them after a while."""

from __future__ import annotations

import functools
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, NamedTuple, Optional
else:
    from vitals.compat.nvitop.named_tuple import NamedTuple

__all__ = ["ttl_cache"]


class CacheInfo(NamedTuple):
    hits: int
    misses: int
    maxsize: Optional[int]
    currsize: int


class _Cache:
    """Results by arguments, the oldest first: all live equally long, so the first to expire is the first."""

    def __init__(self, function: Callable[..., Any], maxsize: int, ttl: float, timer: Callable[[], float],
                 typed: bool) -> None:
        self.function, self.maxsize, self.ttl, self.timer, self.typed = function, maxsize, ttl, timer, typed
        self.lock = threading.RLock()
        self.clear()

    def clear(self) -> None:
        with self.lock:
            self.kept: dict[Any, tuple[float, Any]] = {}
            self.hits = self.misses = 0

    def expire(self) -> None:
        now = self.timer()
        while self.kept:
            oldest = next(iter(self.kept))
            if self.kept[oldest][0] >= now:
                break
            del self.kept[oldest]

    def get(self, *arguments: Any, **named: Any) -> Any:
        key = functools._make_key(arguments, named, self.typed)
        with self.lock:
            found = self.kept.get(key)
            if found is not None and self.timer() < found[0]:
                self.hits += 1
                return found[1]
        self.misses += 1
        result = self.function(*arguments, **named)
        with self.lock:
            self.kept.pop(key, None)
            if len(self.kept) >= self.maxsize:
                self.expire()
            if len(self.kept) >= self.maxsize:
                del self.kept[next(iter(self.kept))]
            self.kept[key] = self.timer() + self.ttl, result
        return result

    def info(self) -> CacheInfo:
        with self.lock:
            self.expire()
            return CacheInfo(self.hits, self.misses, self.maxsize, len(self.kept))


def ttl_cache(maxsize: int | Callable[..., Any] | None = 128, *, ttl: float = 600.0,
              timer: Callable[[], float] = time.monotonic, typed: bool = False) -> Any:
    """A decorator: at most `maxsize` results, each for `ttl` seconds. None and 0 are those of functools.lru_cache,
    which knows no time. The function gets cache_info(), cache_clear() and cache_parameters()."""
    if callable(maxsize):
        return ttl_cache(ttl=ttl, timer=timer, typed=typed)(maxsize)
    if maxsize is not None and not isinstance(maxsize, int):
        raise TypeError("Expected first argument to be an integer, a callable, or None")
    if ttl < 0:
        raise ValueError("TTL must be a non-negative number")
    if not callable(timer):
        raise TypeError("Timer must be a callable")
    if maxsize is None or maxsize <= 0:
        return functools.lru_cache(maxsize=maxsize and 0, typed=typed)
    size: int = maxsize

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        cache = _Cache(function, size, ttl, timer, typed)

        @functools.wraps(function)
        def cached(*arguments: Any, **named: Any) -> Any:
            return cache.get(*arguments, **named)
        cached.cache_info, cached.cache_clear = cache.info, cache.clear  # type: ignore[attr-defined]
        cached.cache_parameters = lambda: {"maxsize": size, "typed": typed}  # type: ignore[attr-defined]
        return cached
    return wrap

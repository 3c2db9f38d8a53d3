"""Pure functions over pictures: the measurements that every judgement here rests on."""

__all__: list[str] = []

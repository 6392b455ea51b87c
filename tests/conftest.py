"""Property tests are the same at every run; the fixture `route` runs a test once on each route of counting."""

import pytest
from doors import ROUTES, on_route
from hypothesis import HealthCheck, settings

settings.register_profile(
    "congruence", derandomize=True, deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("congruence")


@pytest.fixture(params=list(ROUTES))
def route(request: pytest.FixtureRequest):
    """The name of the route; inside the test all counting takes it."""
    with on_route(request.param):
        yield request.param

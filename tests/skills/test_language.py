from datetime import date, datetime, time

import pytest

from edgevoice.skills.language import Language


@pytest.fixture(scope="module", params=["en", "de"])
def language(request):
    return Language(request.param)


@pytest.fixture(scope="module")
def english():
    return Language("en")


@pytest.fixture(scope="module")
def german():
    return Language("de")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "zero seconds"),
        (1, "one second"),
        (25 * 60, "twenty-five minutes"),
        (90, "one minute and thirty seconds"),
        (5400, "one hour and thirty minutes"),
        (2 * 3600 + 60, "two hours and one minute"),
        (9 * 60 + 59.6, "ten minutes"),
        (3725, "one hour and two minutes"),
        (-3, "zero seconds"),
    ],
)
def test_durations(english, seconds, words):
    assert english.duration(seconds) == words


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (time(7, 0), "seven o'clock"),
        (time(7, 5), "seven oh five"),
        (time(19, 15), "seven fifteen"),
        (time(0, 30), "twelve thirty"),
    ],
)
def test_times_of_day(english, at, words):
    assert english.clock(at) == words


def test_times_of_day_in_german(german):
    assert german.clock(time(1, 0)) == "ein Uhr"
    assert german.clock(time(19, 15)) == "neunzehn Uhr fünfzehn"


def test_dates(english, german):
    assert english.date(date(2026, 11, 21)) == "Saturday, November twenty-first"
    assert german.date(date(2026, 11, 1)) == "Sonntag, der erste November"


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (datetime(2026, 11, 21, 21, 0), "nine o'clock in the evening"),
        (datetime(2026, 11, 22, 7, 0), "seven o'clock in the morning"),
        (datetime(2026, 11, 22, 19, 0), "tomorrow, seven o'clock in the evening"),
        (datetime(2026, 11, 24, 7, 30), "Tuesday, seven thirty in the morning"),
    ],
)
def test_a_moment_tells_morning_from_evening_and_the_day_if_it_is_not_near(english, at, words):
    assert english.moment(at, datetime(2026, 11, 21, 20, 0)) == words


def test_the_languages_have_the_same_answers_and_intents(language, english):
    assert set(language._say) == set(english._say)
    assert set(language._words) == set(english._words)
    assert set(language.sentences["intents"]) == set(english.sentences["intents"])

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevoice.core.commands import Message
from edgevoice.core.events import SpokenWord
from edgevoice.core.history import CUT, History, estimate_tokens
from edgevoice.core.tuning import HistoryTuning

SPOKEN = (SpokenWord("It", 0, 100), SpokenWord("is", 150, 250), SpokenWord("noon.", 250, 450))
TUNING = HistoryTuning(system_prompt="Be brief.")


def texts(history: History, question: str = "now?") -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in history.messages(question)]


def test_the_prompt_is_system_past_and_question() -> None:
    history = History(TUNING)
    history.add("hello", "Hi.")
    assert texts(history) == [
        ("system", "Be brief."),
        ("user", "hello"),
        ("assistant", "Hi."),
        ("user", "now?"),
    ]


def test_asking_changes_nothing() -> None:
    history = History(TUNING)
    assert texts(history) == texts(history)


def test_an_interrupted_answer_ends_in_the_mark() -> None:
    history = History(TUNING)
    history.add("time?", History.heard(SPOKEN, 210), cut=True)
    history.add("more?", "One, two,", cut=True)
    assert texts(history)[2] == ("assistant", f"It is{CUT}")
    assert texts(history)[4] == ("assistant", f"One, two{CUT}")


def test_roles_alternate_even_if_nothing_of_an_answer_was_heard() -> None:
    history = History(TUNING)
    history.add("what is", "", cut=True)
    assert texts(history) == [("system", "Be brief."), ("user", "what is\nnow?")]


def test_what_was_said_without_a_question_is_no_exchange() -> None:
    history = History(TUNING)
    history.add("", "Your tea is ready.")
    assert texts(history) == texts(History(TUNING))


def test_tool_results_follow_their_question_and_stay_with_it() -> None:
    history = History(TUNING)
    history.tool("now?", "12:00")
    history.tool("now?", "UTC")
    tail = [("user", "now?"), ("tool", "12:00\nUTC")]
    assert texts(history)[1:] == tail
    history.add("now?", "It is noon.")
    assert texts(history, "thanks")[1:] == [*tail, ("assistant", "It is noon."), ("user", "thanks")]


def test_tool_results_of_a_question_that_was_dropped_are_forgotten() -> None:
    history = History(TUNING)
    history.tool("old?", "secret")
    assert "secret" not in str(texts(history))
    history.add("other?", "Yes.")
    assert "secret" not in str(texts(history, "old?"))


def test_a_model_that_calls_in_circles_keeps_its_newest_results() -> None:
    history = History(TUNING)
    for number in range(10):
        history.tool("now?", str(number))
    assert texts(history)[-1] == ("tool", "7\n8\n9")


# -- the window ----------------------------------------------------------------------

text = st.text("ab. ", max_size=400)


def cost(messages: tuple[Message, ...]) -> int:
    return sum(estimate_tokens(message.text) for message in messages)


@given(
    st.integers(256, 1024),
    text,
    st.lists(st.tuples(text, text, st.booleans(), st.lists(text, max_size=3)), max_size=12),
    text,
    st.booleans(),
)
def test_every_prompt_leaves_room_for_the_answer(
    window: int,
    prompt: str,
    exchanges: list[tuple[str, str, bool, list[str]]],
    question: str,
    condense: bool,
) -> None:
    tuning = HistoryTuning(system_prompt=prompt, context_tokens=window)
    history = History(tuning)
    for asked, said, cut, results in exchanges:
        for result in results:
            history.tool(asked, result)
        history.add(asked, said, cut=cut)
        if condense and history.is_too_full:
            history.condense(0.0)
    messages = history.messages(question)
    assert cost(messages) <= window - min(tuning.answer_tokens, window // 2)
    roles = [message.role for message in messages]
    assert roles[0] == "system"
    assert all(one != next_one for one, next_one in pairwise(roles))
    if condense:
        assert not history.is_too_full


def test_the_oldest_exchanges_go_first() -> None:
    history = History(HistoryTuning(system_prompt="", context_tokens=512))
    for number in range(20):
        history.add(f"question {number}", "word " * 30)
    kept = [text for role, text in texts(history) if role == "user"]
    assert kept[-2:] == ["question 19", "now?"]
    assert 2 < len(kept) < 20
    assert kept == [*(f"question {n}" for n in range(21 - len(kept), 20)), "now?"]


def test_a_question_that_is_too_long_loses_its_front() -> None:
    history = History(HistoryTuning(system_prompt="", context_tokens=256))
    asked = texts(history, "start " + "blah " * 500 + "end")[-1][1]
    assert asked.startswith("blah")
    assert asked.endswith("blah end")
    assert estimate_tokens(asked) > 50


def test_a_tool_result_that_is_too_long_loses_its_end() -> None:
    history = History(HistoryTuning(system_prompt="", context_tokens=256))
    history.tool("now?", "start " + "blah " * 500)
    assert texts(history)[1][1] == "now?"
    assert texts(history)[2][1].startswith("start blah")


def test_a_long_result_is_whole_as_long_as_there_is_room_for_it() -> None:
    history = History(HistoryTuning(system_prompt="", context_tokens=256))
    history.tool("now?", "blah " * 70)
    assert texts(history)[2][1] == "blah " * 70


def test_only_the_answer_has_its_room_kept_free() -> None:
    history = History(HistoryTuning(system_prompt="", context_tokens=2048, answer_tokens=256))
    result = "blah " * 1400  # 1750 tokens of 1792
    history.tool("now?", result)
    assert texts(history)[2][1] == result


def test_the_owners_prompt_is_sent_as_it_is_written() -> None:
    prompt = "Be brief.\n\n  Be kind."
    assert texts(History(HistoryTuning(system_prompt=prompt)))[0] == ("system", prompt)


def test_another_way_to_count_is_used() -> None:
    history = History(HistoryTuning(system_prompt="", context_tokens=512), count=lambda text: 400)
    history.add("hello", "Hi.")
    assert "hello" not in str(texts(history))


# -- renewal ---------------------------------------------------------------------------


def filled(exchanges: int, tuning: HistoryTuning = TUNING) -> History:
    history = History(tuning, at=100.0)
    for number in range(exchanges):
        history.add(f"question {number}", f"Answer {number}. And much more of it.")
    return history


def test_old_turns_are_to_be_condensed_15_minutes_after_the_last_time() -> None:
    history = filled(5)
    assert history.renewal_at == 100.0 + 900.0
    history.condense(1234.0)
    assert history.renewal_at == 1234.0 + 900.0


def test_turns_that_are_to_be_kept_stay_word_for_word() -> None:
    history = filled(4)
    before = texts(history)
    history.condense(10_000.0)
    assert texts(history) == before


def test_at_80_percent_of_the_window_it_is_too_full() -> None:
    tuning = HistoryTuning(system_prompt="", context_tokens=512)  # 256 for messages
    history = History(tuning)
    history.add("a" * 4, "b" * 350)
    history.add("a" * 4, "b" * 336)
    assert not history.is_too_full
    history.add("c", "d")
    assert history.is_too_full


def test_one_exchange_however_long_is_never_condensed() -> None:
    history = History(HistoryTuning(context_tokens=256))
    history.add("a " * 500, "b " * 500)
    assert not history.is_too_full


def test_condensing_keeps_the_gist_and_the_newest_turns() -> None:
    history = filled(6)
    history.condense(200.0)
    prompt = texts(history)
    assert prompt[0][1] == (
        "Be brief.\n\nEarlier in this conversation:\n"
        "- question 0 → Answer 0.\n- question 1 → Answer 1."
    )
    assert prompt[1] == ("user", "question 2")
    assert len(prompt) == 1 + 2 * 4 + 1


def test_long_turns_are_shortened_in_the_summary() -> None:
    history = History(HistoryTuning(system_prompt="", keep_turns=1))
    history.add("why " * 50, "because " * 50)
    history.add("so", "Yes.")
    history.condense(0.0)
    line = texts(history)[0][1].splitlines()[-1]
    assert line.startswith("- why why")
    assert len(line) <= 80 + 120 + 7
    assert line.count("…") == 2


def test_the_summary_itself_is_kept_short_and_loses_its_oldest_lines() -> None:
    history = filled(200)
    history.condense(0.0)
    summary = texts(history)[0][1]
    assert "question 195" in summary
    assert "question 0 " not in summary
    assert estimate_tokens(summary) < 500


def test_a_summary_that_has_no_room_at_all_is_left_out() -> None:
    history = History(HistoryTuning(system_prompt="", keep_turns=1), summary_heading="x" * 4000)
    history.add("a", "b")
    history.add("a", "b")
    history.condense(0.0)
    assert texts(history)[0] == ("system", "")


def test_the_heading_is_the_languages() -> None:
    history = History(HistoryTuning(keep_turns=1), summary_heading="Bisher:")
    history.add("a", "b")
    history.add("a", "b")
    history.condense(0.0)
    assert "\nBisher:\n" in texts(history)[0][1]


# -- what was heard ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("position", "heard", "resumed"),
    [
        (0, "", 0),
        (49, "", 0),
        (50, "It", 0),
        (100, "It", 100),
        (149, "It", 100),
        (199, "It", 150),
        (200, "It is", 150),
        (250, "It is", 250),
        (349, "It is", 250),
        (350, "It is noon.", 250),
        (9999, "It is noon.", 450),
    ],
)
def test_heard_and_resumed(position: int, heard: str, resumed: int) -> None:
    assert History.heard(SPOKEN, position) == heard
    assert History.resume_position(SPOKEN, position) == resumed


def test_without_words_speech_resumes_at_its_beginning() -> None:
    assert History.resume_position((), 500) == 0


@given(st.lists(st.integers(1, 50), min_size=2, max_size=40), st.integers(0, 2500))
def test_a_resume_loses_no_word_and_repeats_at_most_one(widths: list[int], position: int) -> None:
    spoken, at = [], 0
    for number, width in enumerate(widths):
        spoken.append(SpokenWord(str(number), at, at + width))
        at += width + number % 3
    back = History.resume_position(spoken, position)
    assert back <= position
    repeated = [w for w in spoken if back < w.end and w.start < position]
    assert len(repeated) <= 1
    assert all(w.end <= back or w.start >= back for w in spoken)


# -- to the letter -----------------------------------------------------------------------


def words_of(text: str) -> int:
    return len(text.split())


def test_a_text_is_cut_to_exactly_what_fits() -> None:
    history = History(TUNING, count=words_of)
    assert history._cut_to("a b c d", 4) == "a b c d"
    assert history._cut_to("a b c d", 3) == "a b c"
    assert history._cut_to("a b c d", 1) == "a"
    assert history._cut_to("a b c d", 3, keep_end=True) == "b c d"
    assert history._cut_to("a b c d", 0) == ""
    assert History(TUNING)._cut_to("abcdefghij", 2) == "abcdefgh"


def test_what_was_said_before_several_tools_is_one_text() -> None:
    history = History(TUNING)
    history.begin("now?", "Let me look.")
    history.tool("now?", "noon")
    history.begin("now?", "And again.")
    assert texts(history)[2] == ("assistant", "Let me look. And again.")
    history.abandon()
    assert texts(history)[1:] == [
        ("user", "now?"),
        ("assistant", "Let me look. And again."),
        ("tool", "noon"),
        ("user", "now?"),
    ]


def gist(question: str, answer: str) -> str:
    history = History(HistoryTuning(system_prompt="", keep_turns=1))
    history.add(question, answer)
    history.add("so", "Yes.")
    history.condense(0.0)
    return texts(history)[0][1].splitlines()[-1]


def test_the_gist_is_the_question_and_the_first_sentence() -> None:
    assert gist("why", "One. Two! Three?") == "- why → One."
    assert gist("why", "No end") == "- why → No end"
    assert gist("why", "Is it? Yes. No.") == "- why → Is it?"


def test_the_gist_is_cut_at_a_word_and_only_when_it_is_too_long() -> None:
    fits = "x" * 39 + " " + "y" * 40
    assert gist(fits, "Yes.") == f"- {fits} → Yes."
    assert gist(f"{fits}z", "Yes.") == f"- {'x' * 39}… → Yes."
    assert gist("a b " + "c" * 80, "Yes.") == "- a b… → Yes."


def test_the_summary_may_fill_a_quarter_of_the_room_and_no_more() -> None:
    tuning = HistoryTuning(
        system_prompt="", context_tokens=256, answer_tokens=128, keep_turns=1, renew_at_share=1.0
    )
    history = History(tuning, count=words_of, summary_heading="heading")
    for _ in range(10):
        history.add("a b c", "d e")  # seven words with its marks
    history.condense(0.0)
    assert words_of(texts(history)[0][1]) <= 32
    assert texts(history)[0][1].count("→") == 4


@pytest.mark.parametrize(("heading", "lines"), [("head", 2), ("heads", 1)])
def test_and_that_to_the_character(heading: str, lines: int) -> None:
    tuning = HistoryTuning(
        system_prompt="", context_tokens=256, answer_tokens=128, keep_turns=1, renew_at_share=1.0
    )
    history = History(tuning, count=len, summary_heading=heading)
    for _ in range(4):
        history.add("a b c", "d e")  # 13 characters in the summary, and a line's end
    history.condense(0.0)
    assert texts(history)[0][1].count("→") == lines


def test_a_text_that_fits_stays_as_it_is() -> None:
    assert History(TUNING, count=words_of)._cut_to("a  b", 2) == "a  b"


def test_a_question_and_its_results_share_the_room_when_it_is_too_small() -> None:
    history = History(TUNING, count=words_of)
    asked = [Message("user", "a b c"), Message("tool", "d")]
    assert history._fitted(asked, 3 + 5 + 1 + 5) == asked
    asked = [Message("user", "a " * 9 + "z"), Message("tool", "d " * 10)]
    assert [words_of(m.text) for m in history._fitted(asked, 20)] == [5, 5]


def test_the_system_prompt_may_fill_half_of_the_room() -> None:
    tuning = HistoryTuning(system_prompt="be " * 200, context_tokens=256, answer_tokens=128)
    assert words_of(History(tuning, count=words_of).messages("now?")[0].text) == 64 - 5


@pytest.mark.parametrize(("words", "kept"), [(57, True), (58, False)])
def test_the_past_fills_the_room_to_the_last_token(words: int, kept: bool) -> None:
    tuning = HistoryTuning(system_prompt="", context_tokens=256, answer_tokens=128)
    history = History(tuning, count=words_of)
    history.add("q " * 50, "a " * words)  # 128 - 5 - (1 + 5) = (50 + 5) + (57 + 5)
    assert (len(history.messages("now?")) == 4) is kept


def test_only_punctuation_is_taken_off_before_the_mark() -> None:
    history = History(TUNING)
    history.add("what is it", "A box X,", cut=True)
    assert texts(history)[2] == ("assistant", f"A box X{CUT}")

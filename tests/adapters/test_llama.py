from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevoice.adapters.llama import LlamaModel
from edgevoice.adapters.llama_context import BATCH
from edgevoice.core.commands import Message
from edgevoice.core.tuning import HistoryTuning
from edgevoice.errors import EngineError, ModelError
from tests.adapters.engines import model

pytestmark = pytest.mark.engines

SYSTEM = Message("system", HistoryTuning().system_prompt)
FRANCE = [SYSTEM, Message("user", "What is the capital of France?")]
SEA = [SYSTEM, Message("user", "Why is the sea salt?")]
ANSWERED = Message("assistant", "Because of the wind.")
LONG = [SYSTEM, Message("user", "The lamp and the door and the window are open. " * 25)]


def load(path: Path, context_tokens: int = 512) -> LlamaModel:
    return LlamaModel(
        path,
        context_tokens=context_tokens,
        threads=2,
        threads_ahead=1,
        max_tokens=24,
        temperature=0.0,
        repeat_penalty=1.1,
    )


@pytest.fixture(scope="module")
def path() -> Path:
    return model("smollm2-135m-instruct-q4_1", "llm")


@pytest.fixture(scope="module")
def expected(path: Path) -> dict[str, str]:
    """Answers of models that were never asked anything before."""
    return {chat[-1].text: answer(load(path), chat) for chat in (FRANCE, SEA)}


@pytest.fixture(scope="module")
def llm(path: Path) -> LlamaModel:
    return load(path)


def never() -> bool:
    return False


def after(polls: int) -> Callable[[], bool]:
    """Cancelled from that many questions on."""
    count = iter(range(polls))
    return lambda: next(count, None) is None


def answer(llm: LlamaModel, chat: list[Message]) -> str:
    return "".join(llm.reply(chat, never))


@contextmanager
def steps(llm: LlamaModel) -> Iterator[list[int]]:
    """The tokens of each step that the model evaluates."""
    context, evaluated = llm._llama._ctx, []
    decode = context.decode

    def counted(batch: Any) -> None:
        evaluated.append(batch.batch.n_tokens)
        decode(batch)

    context.decode = counted
    try:
        yield evaluated
    finally:
        del context.decode


def test_paris(expected: dict[str, str]) -> None:
    assert "Paris" in expected[FRANCE[-1].text]


def test_the_answer_stops_at_its_end_and_shows_no_markers(llm: LlamaModel) -> None:
    text = answer(llm, FRANCE)
    assert text.endswith(".")
    assert "<|" not in text


def test_a_second_question_is_answered_as_by_a_fresh_model(
    llm: LlamaModel, expected: dict[str, str]
) -> None:
    for chat in (FRANCE, SEA, SEA, FRANCE):
        assert answer(llm, chat) == expected[chat[-1].text]


@pytest.mark.parametrize("pieces", [0, 1, 2, 5])
def test_an_abandoned_answer_spoils_nothing(
    llm: LlamaModel, expected: dict[str, str], pieces: int
) -> None:
    list(islice(llm.reply(SEA, never), pieces))
    assert answer(llm, FRANCE) == expected[FRANCE[-1].text]
    assert answer(llm, SEA) == expected[SEA[-1].text]


def test_cancelled_between_tokens_it_stops_at_the_next(
    llm: LlamaModel, expected: dict[str, str]
) -> None:
    cancelled = Event()
    pieces = 0
    for pieces, _ in enumerate(llm.reply(SEA, cancelled.is_set), start=1):
        if pieces == 3:
            cancelled.set()
    assert pieces == 3
    assert answer(llm, SEA) == expected[SEA[-1].text]


@pytest.mark.parametrize(
    ("words", "more"),
    [
        ("what time is", "it"),
        ("set a timer for", "ten minutes"),
        ("what is the capital of", "france"),
        ("remind me to", "call my mother on sunday"),
        ("wake me up at half past", "six in the morning"),
    ],
)
def test_words_that_are_whole_are_told_from_those_that_are_not(
    llm: LlamaModel, words: str, more: str
) -> None:
    unfinished = llm.whole([SYSTEM, Message("user", words)], never)
    whole = llm.whole([SYSTEM, Message("user", f"{words} {more}")], never)
    assert unfinished is not None
    assert whole is not None
    assert 0 <= unfinished < 0.1 < whole <= 1


def test_what_was_judged_is_read_and_answered_as_ever(
    llm: LlamaModel, expected: dict[str, str]
) -> None:
    answer(llm, FRANCE)
    llm.whole(SEA, never)
    with steps(llm) as evaluated:
        assert answer(llm, SEA) == expected[SEA[-1].text]
    assert evaluated[0] < 10


@pytest.mark.parametrize("polls", [0, 1, 300])
def test_a_verdict_that_was_called_off_is_none_and_spoils_nothing(
    llm: LlamaModel, expected: dict[str, str], polls: int
) -> None:
    assert llm.whole(LONG, after(polls)) is None
    assert answer(llm, SEA) == expected[SEA[-1].text]


def test_of_a_verdict_that_was_called_off_no_result_is_left(path: Path) -> None:
    llm = load(path)
    prompt = llm._prompt(LONG, answer=True)
    llm.prefill(LONG, never)
    assert llm.whole(LONG, after(0)) is None
    known = prompt[: llm._llama.n_tokens]
    assert next(llm._answer(known, never)) == next(load(path)._answer(known, never))


def test_of_words_that_the_template_changes_nothing_is_known(
    llm: LlamaModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    render = llm._chat.render
    monkeypatch.setattr(
        llm._chat, "render", lambda *chat, answer: render(*chat, answer=answer).upper()
    )
    assert llm.whole(SEA, never) is None


def test_of_words_with_much_behind_them_nothing_is_known(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = load(path)
    render = llm._chat.render
    monkeypatch.setattr(
        llm._chat, "render", lambda *chat, answer: render(*chat, answer=answer) + "think! " * 100
    )
    assert llm.whole(SEA, never) is None
    anticipate(llm, SEA)
    assert answer(llm, SEA)


@pytest.mark.parametrize("polls", [0, 1, 300, 700, 1500])
def test_cancelled_inside_the_prompt_it_says_nothing_and_spoils_nothing(
    llm: LlamaModel, expected: dict[str, str], polls: int
) -> None:
    answer(llm, FRANCE)
    cancelled = after(polls)
    assert list(llm.reply(LONG, cancelled)) == []
    assert cancelled()
    assert answer(llm, FRANCE) == expected[FRANCE[-1].text]
    assert answer(llm, SEA) == expected[SEA[-1].text]


def test_a_prompt_whose_reading_was_cancelled_can_be_asked_again(path: Path) -> None:
    llm = load(path)
    list(llm.reply(LONG, after(700)))
    assert answer(llm, LONG) == answer(load(path), LONG)


def test_what_was_read_before_a_cancelled_step_is_usable(path: Path) -> None:
    llm = load(path)
    prompt = llm._prompt(LONG, answer=True)
    assert list(llm._tokens(prompt, after(700))) == []

    good = prompt[:BATCH]
    assert llm._llama.input_ids[:BATCH].tolist() == good
    assert next(llm._answer(good, never)) == next(load(path)._answer(good, never))


def test_what_was_read_ahead_is_not_read_again(path: Path, expected: dict[str, str]) -> None:
    llm = load(path)
    llm.prefill([SYSTEM, Message("user", "What is the capital")], never)
    with steps(llm) as evaluated:
        llm.prefill(FRANCE, never)
    assert 0 < sum(evaluated) < 12
    with steps(llm) as evaluated:
        llm.prefill(FRANCE, never)
    assert evaluated == []
    with steps(llm) as evaluated:
        assert answer(llm, FRANCE) == expected[FRANCE[-1].text]
    assert evaluated[0] <= 4  # what opens the answer in the template


@pytest.mark.parametrize("text", ["end", "assistant", "user", "is", "im_start"])
def test_a_text_that_is_in_the_template_as_well_is_told_from_it(llm: LlamaModel, text: str) -> None:
    around = llm._chat.around_last([SYSTEM, Message("user", text)])
    assert around is not None
    assert around[0].endswith("user\n")
    assert around[1].startswith("<|im_end|>")


def test_the_verdict_is_that_after_the_last_token_of_the_text(path: Path) -> None:
    llm = load(path)
    before, _ = llm._chat.around_last(FRANCE) or ("", "")
    text = llm._chat.tokenise(before + FRANCE[-1].text)
    llm._context.read(text, [len(text) - 1])
    alone = llm._context.probability(len(text) - 1, llm._endings)
    assert llm.whole(FRANCE, never) == pytest.approx(alone, rel=0.05)


def test_what_was_judged_has_its_first_token_without_a_step(
    path: Path, expected: dict[str, str]
) -> None:
    llm = load(path)
    llm.prefill(FRANCE, never)
    for _ in range(2):
        with steps(llm) as evaluated:
            llm.whole(FRANCE, never)
        assert len(evaluated) == 1
        assert evaluated[0] < 12
        with steps(llm) as evaluated:
            next(iter(llm.reply(FRANCE, never)))
        assert sum(evaluated) == 0
        assert answer(llm, FRANCE) == expected[FRANCE[-1].text]


CAPITAL = [SYSTEM, Message("user", "what is the capital")]
OF_FRANCE = [SYSTEM, Message("user", "what is the capital of france")]


def anticipate(llm: LlamaModel, chat: list[Message], tokens: int = 3) -> None:
    llm.prefill(chat, never)
    list(llm.anticipate(chat, tokens, never))


def beginning(answered: str) -> str:
    """Two words of nearly the same probability change places when steps are of other sizes."""
    return answered[:40]


def test_a_guess_that_was_right_brings_several_tokens_in_one_step(path: Path) -> None:
    llm = load(path)
    anticipate(llm, CAPITAL)
    with steps(llm) as evaluated:
        assert llm.whole(OF_FRANCE, never) is not None
        begun = "".join(islice(llm.reply(OF_FRANCE, never), 4))
    assert len(evaluated) == 1
    assert begun == "The capital of France"
    assert answer(llm, OF_FRANCE) == answer(load(path), OF_FRANCE)


def test_a_guess_is_used_without_a_verdict_as_well(path: Path) -> None:
    costs = []
    for tokens in (0, 3):
        llm = load(path)
        anticipate(llm, CAPITAL, tokens)
        with steps(llm) as evaluated:
            assert answer(llm, OF_FRANCE).startswith("The capital of France")
        costs.append(len(evaluated))
    assert costs[1] == costs[0] - 3


def test_a_wrong_guess_changes_no_answer(path: Path, expected: dict[str, str]) -> None:
    llm = load(path)
    anticipate(llm, CAPITAL)
    assert llm.whole(SEA, never) is not None
    with steps(llm) as evaluated:
        list(islice(llm.reply(SEA, never), 4))
    assert len(evaluated) > 1
    for chat in (SEA, FRANCE):
        anticipate(llm, CAPITAL)
        assert beginning(answer(llm, chat)) == beginning(expected[chat[-1].text])


def test_a_guess_is_tried_once(path: Path) -> None:
    llm = load(path)
    read = []
    for tokens in (3, 0):
        anticipate(llm, CAPITAL, tokens)
        for chat in (SEA, FRANCE):
            with steps(llm) as evaluated:
                llm.whole(chat, never)
            read.append(sum(evaluated))
    assert read[0] == read[2] + 3
    assert read[1] == read[3]


def test_what_was_begun_is_forgotten_when_something_else_is_read(
    path: Path, expected: dict[str, str]
) -> None:
    llm = load(path)
    assert llm.whole(FRANCE, never) is not None
    llm.prefill(SEA, never)
    assert answer(llm, FRANCE) == expected[FRANCE[-1].text]


def test_the_guess_for_fewer_words_is_checked_by_the_next_one(path: Path) -> None:
    llm = load(path)
    anticipate(llm, [SYSTEM, Message("user", "What is the")])
    with steps(llm) as evaluated:
        anticipate(llm, CAPITAL)
    fresh = load(path)
    fresh.prefill(CAPITAL[:1], never)
    with steps(fresh) as alone:
        anticipate(fresh, CAPITAL)
    assert len(evaluated) < len(alone)
    assert llm._guess == fresh._guess


def test_what_was_begun_is_not_guessed(path: Path) -> None:
    llm = load(path)
    llm.whole(FRANCE, never)
    with steps(llm) as evaluated:
        anticipate(llm, FRANCE)
        next(iter(llm.reply(FRANCE, never)))
    assert evaluated == []


@pytest.mark.parametrize("polls", [0, 1, 300, 800, 1500])
def test_a_guess_that_is_broken_off_is_used_as_far_as_it_came(
    path: Path, expected: dict[str, str], polls: int
) -> None:
    llm = load(path)
    list(llm.anticipate(CAPITAL, 3, after(polls)))
    assert len(llm._guess) < 3
    assert beginning(answer(llm, FRANCE)) == beginning(expected[FRANCE[-1].text])
    list(llm.anticipate(CAPITAL, 3, after(polls)))
    assert beginning(answer(llm, SEA)) == beginning(expected[SEA[-1].text])


def test_a_guess_leaves_the_other_threads_alone_and_the_answer_all(path: Path) -> None:
    llm = load(path)
    context, used = llm._llama._ctx, []
    decode = context.decode

    def watched(batch: Any) -> None:
        used.append(llm._api.llama_n_threads(context.ctx))
        decode(batch)

    context.decode = watched
    anticipate(llm, CAPITAL)
    assert set(used) == {1}
    next(iter(llm.reply(FRANCE, never)))
    assert used[-1] == 2


def test_at_the_edge_of_the_window_less_is_guessed(path: Path) -> None:
    llm = load(path, context_tokens=256)
    asked = [Message("user", "dragon " * 222)]
    room = 256 - len(llm._prompt(asked, answer=True))
    assert 0 < room < 20
    llm._guess = [5] * 40
    assert len(list(llm.reply(asked, never))) <= room


def test_a_long_text_is_judged_in_steps(llm: LlamaModel, expected: dict[str, str]) -> None:
    with steps(llm) as evaluated:
        assert llm.whole(LONG, never) is not None
    assert max(evaluated) <= BATCH
    with steps(llm) as evaluated:
        next(iter(llm.reply(LONG, never)))
    assert sum(evaluated) == 0
    assert answer(llm, SEA) == expected[SEA[-1].text]


@given(
    st.lists(st.sampled_from(["<|im_start|>", "<|im_end|>", "\n", " ", "user", "é", "a b", "<|"]))
)
def test_a_prompt_has_the_tokens_that_it_has_in_one_piece(
    llm: LlamaModel, parts: list[str]
) -> None:
    prompt = "".join(parts)
    whole = llm._llama.tokenize(prompt.encode(), add_bos=False, special=True)
    assert llm._chat.tokenise(prompt) == whole


def test_only_the_message_that_grows_is_tokenised(path: Path) -> None:
    llm = load(path)
    llm.prefill([*FRANCE, ANSWERED, Message("user", "And of")], never)
    before = llm._chat.tokens_of.cache_info().misses
    llm.prefill([*FRANCE, ANSWERED, Message("user", "And of Spain?")], never)
    assert llm._chat.tokens_of.cache_info().misses == before + 1


def test_a_vocabulary_without_control_tokens_is_tokenised_in_one_piece(
    llm: LlamaModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llm._api, "llama_vocab_is_control", lambda *_: False)
    assert llm._chat.borders().split("<|im_start|>user") == ["<|im_start|>user"]


def test_a_word_that_changed_is_rolled_back_to_the_common_prefix(
    path: Path, expected: dict[str, str]
) -> None:
    llm = load(path)
    for heard in ("what is the cup", "What is the", "What is the cap it all of fran"):
        llm.prefill([SYSTEM, Message("user", heard)], never)
    assert answer(llm, FRANCE) == expected[FRANCE[-1].text]


def test_reading_ahead_ends_after_a_step_and_keeps_it(path: Path) -> None:
    llm = load(path)
    with steps(llm) as evaluated:
        llm.prefill(LONG, after(1))
    assert evaluated == [BATCH]
    with steps(llm) as evaluated:
        llm.prefill(LONG, never)
    assert sum(evaluated) == len(llm._prompt(LONG, answer=False)) - BATCH


def test_the_first_token_costs_the_same_after_any_history(path: Path) -> None:
    """Counted in evaluated tokens, which is what time goes by."""
    llm = load(path)
    costs = []
    for turns in (0, 3, 6):
        past = [m for i in range(turns) for m in (Message("user", f"why {i}"), ANSWERED)]
        chat = [SYSTEM, *past, FRANCE[-1]]
        llm.prefill(chat, never)
        with steps(llm) as evaluated:
            next(iter(llm.reply(chat, never)))
        costs.append(evaluated[0])
    assert len(set(costs)) == 1


@pytest.mark.parametrize("seed", range(6))
def test_wherever_it_is_cancelled_the_next_answer_is_that_of_a_fresh_model(
    llm: LlamaModel, expected: dict[str, str], seed: int
) -> None:
    """Looks ahead, guesses, verdicts, whole and half answers, unfinished prompts, by chance."""
    random = Random(seed)
    for _ in range(4):
        chat, polls = random.choice((FRANCE, SEA, LONG)), random.randrange(900)
        way = random.random()
        if way < 0.3:
            llm.whole(chat, after(polls))
        elif way < 0.45:
            list(llm.anticipate(random.choice((CAPITAL, chat)), 4, after(polls)))
        elif way < 0.6:
            words = chat[-1].text.split()
            part = " ".join(words[: random.randrange(len(words))])
            llm.prefill([SYSTEM, Message("user", part)], after(polls % 3))
        else:
            list(islice(llm.reply(chat, after(polls)), random.randrange(8)))
    # A guess that is left changes the size of a step, and is tried once.
    assert beginning(answer(llm, FRANCE)) == beginning(expected[FRANCE[-1].text])
    for chat in (FRANCE, SEA):
        assert answer(llm, chat) == expected[chat[-1].text]


def test_a_character_is_never_split(llm: LlamaModel) -> None:
    tokens = llm._llama.tokenize("Zoë said 你好 🙂".encode(), add_bos=False)
    with pytest.raises(UnicodeDecodeError):
        [llm._llama.detokenize([token]).decode() for token in tokens]
    pieces = list(llm._text(iter(tokens)))
    assert "".join(pieces) == "Zoë said 你好 🙂"
    assert "�" not in "".join(pieces)


def test_the_longest_answer_is_max_tokens(llm: LlamaModel) -> None:
    story = [Message("user", "Tell me a very long story about a dragon.")]
    assert 10 < llm.count_tokens(answer(llm, story)) <= 25


def test_a_full_window_ends_the_answer(path: Path) -> None:
    llm = load(path, context_tokens=256)
    words = "dragon " * 210
    room = 256 - len(llm._prompt([Message("user", words)], answer=True))
    assert 0 < room < 24
    assert len(list(llm.reply([Message("user", words)], never))) <= room


def test_a_conversation_that_does_not_fit_is_one_line(llm: LlamaModel) -> None:
    with pytest.raises(EngineError, match=r"tokens does not fit .* window of 512; ") as caught:
        answer(llm, [Message("user", "dragon " * 600)])
    assert "\n" not in str(caught.value)


def test_tokens_are_counted(llm: LlamaModel) -> None:
    assert llm.count_tokens("") == 0
    assert llm.count_tokens("hello there") == 2
    assert llm.context_tokens == 512


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no\.gguf is missing; fetch"):
        load(tmp_path / "no.gguf")


@pytest.fixture(params=[0, 100, 1_000_000, 50_000_000])
def broken(request: pytest.FixtureRequest, path: Path, tmp_path: Path) -> Iterator[Path]:
    copy = Path(shutil.copy(path, tmp_path / "broken.gguf"))
    os.truncate(copy, request.param)
    yield copy
    copy.unlink()


def test_a_truncated_model_is_one_line_and_nothing_else(
    broken: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(
        ModelError, match=r"broken\.gguf cannot be loaded \((?!Fail).+\); "
    ) as caught:
        load(broken)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_loading_and_answering_writes_nothing(
    path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    answer(load(path), FRANCE)
    assert capfd.readouterr() == ("", "")


def test_loading_leaves_the_standard_streams_of_other_threads_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def redirect(*_: int) -> None:
        raise AssertionError("standard output or error was redirected")

    with monkeypatch.context() as patch:
        patch.setattr(os, "dup2", redirect)
        load(path)

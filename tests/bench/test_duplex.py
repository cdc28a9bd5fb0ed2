"""The parts of the duplex bench that figures hang on."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from bench.lockstep import RATE
from bench.material import Kind, Sound, cough
from bench.openloop import Said
from bench.peers import _judged, energy
from bench.plots import Curve, Point, curves, scatter
from bench.words import words_wrong


@pytest.mark.parametrize(
    ("history", "heard", "wrong"),
    [
        ("the quick brown fox", "the quick brown fox", 0),
        ("the quick brown fox", "the quick brown", 1),
        ("the quick brown", "the quick brown fox", 1),
        ("the quick brown fox", "the quick brown box", 0),
        ("a long way back the quick brown fox jumps over", "the quick brown fox", 2),
        ("the quick brown fox", "nothing like it", 4),
    ],
)
def test_words_are_counted_from_where_both_agree(history, heard, wrong):
    assert words_wrong(history, heard.split()) == wrong


def test_auc_is_the_chance_that_speech_scores_more():
    listening = pytest.importorskip("bench.listening")
    scores = np.array([0.1, 0.4, 0.35, 0.8])
    truth = np.array([False, False, True, True])
    assert listening.auc(scores, truth) == pytest.approx(0.75)


def test_energy_stops_at_the_third_loud_frame():
    sound = np.zeros(2 * RATE, np.int16)
    sound[RATE : RATE + 4000] = 3000
    assert list(energy(sound)) == [pytest.approx(1.06)]


def test_a_stop_is_put_down_to_what_was_heard_then():
    sounds = [Sound(Kind.INTERRUPTION, cough(0), 0.0), Sound(Kind.SOFT_ACK, cough(1), 0.0)]
    said = [Said(sounds[0].utterance, 10.0), Said(sounds[1].utterance, 16.0)]
    peer = _judged([6.0, 10.2, 12.9], sounds, said, 20.0)
    assert peer.yields == [pytest.approx(0.2)]
    assert peer.ignored == [True]
    assert peer.own_voice == 2


def test_pictures_are_pictures():
    gap = np.array([1.0, np.nan, 3.0, 12.0])
    picture = ET.fromstring(curves([Curve("one", gap)], "title", "s", "dB"))
    lines = [each for each in picture.iter() if each.tag.endswith("polyline")]
    assert [len(line.get("points").split()) for line in lines] == [1, 2]
    chart = ET.fromstring(scatter([Point("here", 0.4, 93.0, ours=True)], "title", "s", "%", 1.6))
    assert sum(each.tag.endswith("circle") for each in chart.iter()) == 1

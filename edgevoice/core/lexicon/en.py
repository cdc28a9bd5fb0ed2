"""English."""

from __future__ import annotations

from types import MappingProxyType

from edgevoice.core.lexicon.model import Lexicon, phrase_set
from edgevoice.core.table import Place

_ARTICLES = "a, an, the, my, your, his, its, our, their, some, every, each, another"
_PREPOSITIONS = """
    of, to, for, from, with, without, at, by, about, in, near, into, onto, between, during, against,
    towards, among, per, via, plus, minus, versus, turn on, switch on, put on
"""
_CONJUNCTIONS = "and, but, or, nor, so, because, if, when, while, although, unless, until, than, as"
_UNFINISHED = """
    is, are, was, were, am, i'm, you're, he's, she's, it's, we're, they're, that's, there's, what's,
    where's, who's, how's, when's, i'd, i'll, i've, let's, can you, could you, would you, will you,
    can i, could i, i want, i need, i'd like, i would like, tell me, give me, show me, remind me,
    how many, such as, something like
"""
_RELATIONAL = """
    the difference, the capital, the name, the number, the population, the meaning, the distance,
    the price, the middle, the author, the inventor, the mayor, what kind, which kind
"""
_ATTRIBUTES = """
    new, old, big, small, large, long, short, good, bad, nice, great, young, whole, entire, main,
    next, same, better, quiet, loud, cold, hot, warm, fresh, red, green, blue, black, white, german,
    french, english, american, nearest, closest, cheapest, most, very, really, quite, rather,
    extremely, half, living, dining, shopping, washing, swimming, parking
"""
# Recognisers of fluent speech write "um" as "ah" or "mmm", and "uh-huh" as "ah" or "huh".
_HESITATIONS = "um, uh, uhm, er, erm, eh, ah, hm, hmm, mmm, you know, i mean, well, let me see"

ENGLISH = Lexicon(
    language="en",
    soft_acks=phrase_set("""
        yeah, yes, yep, yup, ok, okay, hm, hmm, mm, mmm, mhm, mm hm, mm hmm, uh huh, huh, ah, aha,
        ah ha, oh, right, sure, i see, got it, gotcha, alright, all right, cool, nice, great, good,
        fine, exactly, indeed, of course, makes sense, that makes sense, i understand, understood,
        true, really, oh really, wow, interesting, absolutely, definitely, fair enough, very good
    """),
    clear_acks=phrase_set("""
        yeah, yes, okay, all right, right, sure, i see, really, mm, hmm, uh huh
    """),
    fillers=phrase_set(_HESITATIONS + ", like"),
    hard_words=phrase_set("stop, wait, no, cancel, quiet, enough, hold on"),
    short_answers=phrase_set("""
        yes, yeah, yep, yup, no, nope, nah, ok, okay, sure, right, correct, wrong, true, false,
        maybe, perhaps, of course, please, thanks, thank you, no thanks, hello, hi, hey, bye,
        goodbye, stop, wait, go, go on, go ahead, next, back, more, less, again, repeat, play,
        pause, resume, continue, cancel, quit, exit, help, mute, unmute, quiet, louder, softer,
        quieter, up, down, on, off, left, why, what, who, when, where, how, which, why not,
        what else, i do, i don't, i am, i'm not, not yet, not now, me too, never,
        always, both, none, neither, all, good, great, fine, now, later, today, time, date
    """),
    number_words=phrase_set("""
        zero, one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen,
        fourteen, fifteen, sixteen, seventeen, eighteen, nineteen, twenty, thirty, forty, fifty,
        sixty, seventy, eighty, ninety, hundred, thousand, million, billion, half, quarter, dozen,
        a half, a quarter, a dozen, a hundred, a thousand, a million, point, hundred and,
        thousand and, first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth
    """),
    stop_phrases=phrase_set("""
        stop, stop it, stop that, please stop, stop please, cancel, cancel it, cancel that,
        please cancel, abort, quit, enough, never mind, nevermind, forget it, leave it
    """),
    strays=frozenset({"the"}),
    silencers=phrase_set("""
        stop the alarm, stop the timer, stop ringing, turn it off, turn off the alarm,
        turn the alarm off, turn off the timer, turn the timer off, switch it off, shut up,
        be quiet, quiet, silence, off, i'm up, i am up, i'm awake, i am awake, i heard you,
        i hear you
    """),
    closings=phrase_set("""
        thank you, thanks, thank you very much, thanks a lot, many thanks, no thank you, no thanks,
        goodbye, good bye, bye, bye bye, good night, see you, see you later, see you soon,
        never mind, nevermind, forget it, forget about it, that's all, that is all, that's it,
        that will be all, that'll be all, nothing else, stop listening, go to sleep
    """),
    open_endings=phrase_set(
        ",".join((_ARTICLES, _PREPOSITIONS, _CONJUNCTIONS, _UNFINISHED, _RELATIONAL, _HESITATIONS))
    ),
    closed_endings=phrase_set("""
        think so, hope so, guess so, believe so, say so, why so, come in, up to, as well, oh well,
        very well, yes it is, no it is, yes i am, no i am, yes they are,
        know when, since when, so do i, neither do i, guess who, know how, says who
    """),
    strandable=phrase_set("about, for, from, with, at, of, to"),
    final_verbs=phrase_set("is, are, was, were, am"),
    interrogatives=phrase_set(
        "what, what's, who, who's, whom, where, where's, which, how, when, why"
    ),
    subjects=phrase_set("i, you, he, she, it, we, they, there, somebody, someone, anybody"),
    determiners=phrase_set(_ARTICLES),
    attributes=phrase_set(_ATTRIBUTES),
    object_verbs=phrase_set("""
        set, add, put, give, show, bring, send, buy, find, make, take, remind, explain, switch,
        want, need, calculate, translate, convert, spell, define, schedule, wrote, invented,
        discovered, built, painted, call, visit, invite, fetch, include, contain, would, going
    """),
    auxiliaries=phrase_set("""
        do, does, did, don't, doesn't, didn't, can, could, will, would, should, shall, may, might,
        must, can't, couldn't, won't, wouldn't, shouldn't
    """),
    nominatives=phrase_set("i, he, she, we, they"),
    relatives=phrase_set("how, which, who, whose, whether"),
    particles=phrase_set("on"),
    particle_verbs=phrase_set("""
        turn, turned, switch, switched, put, leave, keep, go, goes, going, come, hold, carry, move,
        log, try, is, are, was, what's, it's, they're, there's, from, later, so
    """),
    openings=phrase_set("""
        is there, are there, was there, is it, was it, are you, is he, is she, are they, were you,
        have you, has he, has she, had you, have i, what time, what day, which day, what kind,
        how far, how far is it, tell, hey, so, okay so, turn, switch, wake, wake me, wake me up,
        set a timer, set the timer, set timer, start a timer, set an alarm, set the alarm,
        set alarm, turn up, turn down, read me, let me, let me know, find out, write down,
        find out what, find out who, i think, i think that, i know that, i hope that, i wonder,
        i was wondering, i would like to know, i'd like to know, i want to know, do you know,
        can you explain to me, could you explain to me, could you tell me, can you tell me,
        would you tell me, do you have, do we have, do i have, do i need
    """),
    subordinators=phrase_set("""
        if, when, whenever, while, although, though, unless, until, once, before, after
    """),
    orders=phrase_set("""
        set, play, turn, switch, tell, give, show, remind, call, add, put, open, close, stop, start,
        pause, wake, read, write, find, send, make, let, please, lock, unlock, dim, cancel, delete,
        remove, bring, buy, ask, say, order, book, check, look, explain, repeat, lower, raise,
        increase, decrease, don't, do, can, could, will, would, should
    """),
    pronouns=phrase_set(
        "i, you, he, she, it, we, they, this, that, these, those, me, him, her, us, them"
    ),
    conjunctions=phrase_set("""
        and, but, or, because, so, while, which, who, where, when, if, although, though, unless,
        until, before, after, since, then
    """),
    abbreviations=phrase_set("""
        mr, mrs, ms, dr, prof, st, mt, gen, capt, sgt, rev, hon, e.g, i.e, eg, ie, vs, approx, cf,
        fig, vol, est, dept, jan, feb, aug, sept, oct, nov, dec
    """),
    final_abbreviations=phrase_set(
        "etc, a.m, p.m, u.s, u.k, inc, ltd, co, corp, jr, sr, b.c, a.d, ph.d"
    ),
    ordinal_dot=False,
    check_ins=("Are you still there?", "Can you hear me okay?"),
    progress=(
        "Working on that…",
        "Still working, this might take a moment…",
        "This is taking longer than expected…",
    ),
    phrases=MappingProxyType(
        {
            "no_answer": "Sorry, something went wrong. Please try again.",
            "unavailable": (
                "I can't think right now, but timers, the time, the volume and stop still work."
            ),
            "tool_failed": "Sorry, that did not work.",
            "summary": "Earlier in this conversation:",
        }
    ),
    labels=MappingProxyType(
        {
            Place.PREPARING: "○ Getting ready",
            Place.IDLE: "○ Ready",
            Place.LISTENING: "● Listening",
            Place.WAITING_FOR_LLM: "⋯ Thinking",
            Place.TOOL_EXECUTING: "⋯ Working",
            Place.WAITING_FOR_TASK: "⋯ Working on it",
            Place.PLAYING: "▶ Speaking",
            Place.HELD: "‖ Holding",
            Place.INTERRUPTED: "● Interrupted",
            Place.SUSPENDED: "✕ Paused",
            Place.RECOVERING: "↻ Recovering",
            Place.FAULTED: "! Fault",
            Place.TERMINATING: "○ Stopping",
        }
    ),
)

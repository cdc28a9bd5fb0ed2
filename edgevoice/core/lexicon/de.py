"""German."""

from __future__ import annotations

from types import MappingProxyType

from edgevoice.core.lexicon.model import Lexicon, phrase_set
from edgevoice.core.table import Place

# "ein", "an", "aus", "auf", "ab" and "zu" are missing on purpose: "schalte das Licht ein".
_ARTICLES = """
    der, die, das, den, dem, des, eine, einen, einem, einer, eines, mein, meine, meinen, meinem,
    meiner, dein, deine, deinen, sein, seine, unser, unsere, ihre, jeder, jede, jedes, kein, keine
"""
_PREPOSITIONS = """
    von, vom, für, mit, ohne, bei, beim, in, im, ins, am, zum, zur, nach, über, unter, zwischen,
    gegen, durch, wegen, während, seit, bis, plus, minus, geteilt durch
"""
_CONJUNCTIONS = """
    und, oder, aber, denn, weil, dass, wenn, als, ob, obwohl, damit, sondern, sowie, bevor, nachdem
"""
_UNFINISHED = """
    ich möchte, ich will, ich brauche, ich hätte gern, kannst du, könntest du, würdest du, sag mir,
    gib mir, zeig mir, erinnere mich, wie viele, so wie, es ist, das ist, ich bin, wo ist, wer ist,
    was ist, wann ist, wie ist, was sind, wo sind, wer sind
"""
_ATTRIBUTES = """
    neue, neuen, neues, alte, alten, große, großen, großes, kleine, kleinen, kleines, nächste,
    nächsten, nächstes, ganze, ganzen, gleiche, gleichen, beste, besten, höchste, höchsten,
    hauptstadt, unterschied, name, einwohnerzahl
"""
_FILLERS = "äh, ähm, öh, öhm, hm, hmm, mmm, also, na ja, naja, sozusagen, ich meine, tja"

GERMAN = Lexicon(
    language="de",
    soft_acks=phrase_set("""
        ja, jaja, jo, jep, jup, ok, okay, hm, hmm, mm, mmm, mhm, mm hm, hm hm, aha, ah, ach, ach so,
        achso, oh, genau, richtig, klar, alles klar, na klar, stimmt, gut, sehr gut, schön, super,
        prima, toll, verstehe, ich verstehe, verstanden, sicher, natürlich, echt, wirklich, wow,
        interessant, in ordnung, ach ja, eben, logisch, einverstanden
    """),
    clear_acks=phrase_set("""
        ja, okay, genau, stimmt, alles klar, verstehe, ach so, aha, hmm, sicher, wirklich
    """),
    fillers=phrase_set(_FILLERS),
    hard_words=phrase_set("""
        stop, stopp, halt, warte, nein, abbrechen, ruhe, genug, moment, aufhören, hör auf, still
    """),
    short_answers=phrase_set("""
        ja, jo, jep, nein, ne, nee, nö, doch, ok, okay, klar, gut, genau, richtig, falsch, stimmt,
        vielleicht, bitte, danke, nein danke, hallo, hi, hey, tschüss, stop, stopp, halt, warte,
        los, weiter, zurück, mehr, weniger, nochmal, noch mal, noch einmal, pause, abbrechen,
        hilfe, stumm, lauter, leiser, an, aus, ein, hoch, runter, links, rechts, warum,
        was, wer, wann, wo, wie, wieso, wozu, warum nicht, was noch,
        ich auch, noch nicht, nie, immer, beide, alle, keine, jetzt,
        später, heute, uhrzeit, datum, natürlich, sicher
    """),
    number_words=phrase_set("""
        null, eins, ein, eine, zwei, zwo, drei, vier, fünf, sechs, sieben, acht, neun, zehn, elf,
        zwölf, dreizehn, vierzehn, fünfzehn, sechzehn, siebzehn, achtzehn, neunzehn, zwanzig,
        einundzwanzig, fünfundzwanzig, dreißig, fünfunddreißig, vierzig, fünfundvierzig, fünfzig,
        sechzig, siebzig, achtzig, neunzig, hundert, einhundert, zweihundert, tausend, eintausend,
        million, halb, halbe, viertel, dutzend, komma, erste, erster, zweite, zweiter, dritte,
        dritter
    """),
    stop_phrases=phrase_set("""
        stop, stopp, halt, hör auf, aufhören, abbrechen, brich ab, brich das ab, abbruch, genug,
        vergiss es, lass es, lass das, bitte aufhören, bitte abbrechen, egal
    """),
    strays=frozenset(),
    silencers=phrase_set("""
        stopp den wecker, stopp den alarm, stopp den timer, mach aus, mach das aus, mach ihn aus,
        schalte ihn aus, schalt ihn aus, wecker aus, alarm aus, timer aus, mach den wecker aus,
        mach den alarm aus, mach den timer aus, sei still, sei leise, ruhe, aus, ich bin wach,
        ich bin auf, ich komme
    """),
    closings=phrase_set("""
        danke, danke schön, dankeschön, danke sehr, vielen dank, nein danke, tschüss, tschüs, ciao,
        auf wiedersehen, auf wiederhören, gute nacht, bis bald, bis später, bis dann, mach's gut,
        egal, schon gut, vergiss es, ist egal, das war's, das wars, das war alles, das ist alles,
        sonst nichts, hat sich erledigt, schlaf gut
    """),
    open_endings=phrase_set(
        ",".join((_ARTICLES, _PREPOSITIONS, _CONJUNCTIONS, _UNFINISHED, _FILLERS))
    ),
    closed_endings=phrase_set("""
        was ist das, wer ist das, wie ist das, wo ist das, was war das, was bedeutet das,
        was heißt das, was soll das, wie geht das, warum das, mach das, lass das, stimmt das,
        geht das, weiß das, war das, sag das, wiederhole das, ist es das, noch mal, diesmal,
        komm mit, mach mit
    """),
    strandable=phrase_set("von, mit, für, bei, nach"),
    final_verbs=phrase_set("ist, bin, sind, war, waren"),
    interrogatives=phrase_set(
        "was, wer, wen, wem, wo, wohin, woher, wie, wann, warum, welche, welcher"
    ),
    subjects=phrase_set("ich, du, er, sie, es, wir, ihr, man, jemand"),
    determiners=phrase_set(_ARTICLES + ", ein"),
    attributes=phrase_set(_ATTRIBUTES),
    # In German the object comes before the infinitive and the order's verb comes first.
    object_verbs=frozenset(),
    auxiliaries=phrase_set("""
        kann, kannst, können, könnte, könntest, soll, sollte, sollst, will, willst, muss, musst,
        darf, wird, wirst, werden, würde, würdest, hat, hast, haben
    """),
    # The subject comes after the verb in a question: "wo wohnt er".
    nominatives=frozenset(),
    relatives=phrase_set("welche, welcher, welches, ob, wessen"),
    particles=frozenset(),
    particle_verbs=frozenset(),
    openings=phrase_set("""
        gibt es, ist es, bist du, hast du, wie lange, wie weit, wie weit ist es, sag, sage mir, hey,
        stelle einen timer, stell einen timer, stelle einen wecker, stell einen wecker, weck mich,
        wecke mich, spiele, spiel, schalte, mach, mache, stelle, stell, ich denke, ich glaube,
        weißt du, kannst du mir sagen, könntest du mir sagen
    """),
    subordinators=phrase_set("wenn, falls, obwohl, sobald, bevor, nachdem, während"),
    orders=phrase_set("""
        stelle, stell, spiele, spiel, schalte, schalt, mach, mache, sag, sage, gib, zeig, zeige,
        erinnere, ruf, rufe, setze, setz, öffne, schließe, stopp, starte, weck, wecke, lies,
        schreib, schreibe, such, suche, bitte, dreh, drehe, lösche, erklär, erkläre
    """),
    pronouns=phrase_set("ich, du, er, sie, es, wir, ihr, das, dies, mich, dich, ihn, uns"),
    conjunctions=phrase_set("""
        und, oder, aber, denn, weil, dass, wenn, ob, obwohl, damit, sondern, während, bevor,
        nachdem, dann
    """),
    abbreviations=phrase_set("""
        dr, prof, hr, hrn, fr, st, z.b, d.h, u.a, o.ä, s.o, s.u, i.d.r, ca, bzw, evtl, ggf, vgl,
        inkl, zzgl, max, min, str, nr, bd, abs, art, jan, feb, aug, sept, okt, nov, dez
    """),
    final_abbreviations=phrase_set("usw, etc, n.chr, v.chr"),
    ordinal_dot=True,
    check_ins=("Bist du noch da?", "Kannst du mich gut hören?"),
    progress=(
        "Ich arbeite daran…",
        "Ich bin noch dabei, das kann einen Moment dauern…",
        "Das dauert länger als erwartet…",
    ),
    phrases=MappingProxyType(
        {
            "no_answer": "Entschuldigung, da ging etwas schief. Bitte versuch es noch einmal.",
            "unavailable": (
                "Ich kann gerade nicht nachdenken, aber Timer, Uhrzeit, Lautstärke "
                "und Stopp gehen noch."
            ),
            "tool_failed": "Entschuldigung, das hat nicht geklappt.",
            "summary": "Bisher in diesem Gespräch:",
        }
    ),
    labels=MappingProxyType(
        {
            Place.PREPARING: "○ Startet",
            Place.IDLE: "○ Bereit",
            Place.LISTENING: "● Hört zu",
            Place.WAITING_FOR_LLM: "⋯ Denkt nach",
            Place.TOOL_EXECUTING: "⋯ Arbeitet",
            Place.WAITING_FOR_TASK: "⋯ Arbeitet daran",
            Place.PLAYING: "▶ Spricht",
            Place.HELD: "‖ Hält inne",
            Place.INTERRUPTED: "● Unterbrochen",
            Place.SUSPENDED: "✕ Pausiert",
            Place.RECOVERING: "↻ Erholt sich",
            Place.FAULTED: "! Störung",
            Place.TERMINATING: "○ Beendet sich",
        }
    ),
)

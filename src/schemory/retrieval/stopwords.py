"""Function words of English and Italian, folded, and a cautious guess of a query's language.

"ai", "come" and "sei" are words elsewhere, so the words that may be dropped and the words that
prove a language are two lists.
"""

from collections.abc import Mapping, Sequence

_ENGLISH = """
a about after again all also am an and any are as at be because been before being between both but
by can could did do does doing don done down during each either else every few for from further
get had has have having he her here hers him his how i if in into is it its just ll many may me
might more most much must my no nor not now of off on once only or other our ours out over own per
re s same shall she should so some such t than that the their theirs them then there these they
this those through to too under until up upon us ve very was we were what when where whether which
while who whom whose why will with within without would you your yours
"""
_ITALIAN = """
a abbia abbiamo ad agli ai al alla alle allo anche ancora avere aveva avevano avra c che chi ci
cio cioe come con contro cosa cui d da dagli dai dal dalla dalle dallo degli dei del della delle
dello dentro di dopo dove dovrebbe due durante e ed era erano essere fa fare fatto fino fra fu
furono gia gli ha hai hanno ho i il in invece io l la le lei li lo loro lui ma me mentre mi mia
mie miei mio molto ne negli nei nel nella nelle nello noi non nostra nostre nostri nostro o ogni
oppure per perche pero piu poi possono prima puo qual qualche quale quali quando quanta quante
quanti quanto quella quelle quelli quello questa queste questi questo qui quindi sara se sei
sempre senza si sia siamo sono sopra sotto stata state stati stato su sua sue sugli sui sul sulla
sulle sullo suo suoi te ti tra tu tua tue tuo tuoi tutta tutte tutti tutto un una uno va verso vi
viene voi
"""
_ONLY_ENGLISH = """
and are because been between did do does from had has have how is it of our should that the their
them there these they this those to was we were what when where which who whose why will with
would you your
"""
_ONLY_ITALIAN = """
abbiamo agli alla alle anche che chi cosa dagli dalla dalle degli dei del della delle dello di
dove essere gli hanno il nella nelle nello per perche piu puo quale quali quando quanti questa
questo sono stata stato sulla una viene
"""

STOP_WORDS: Mapping[str, frozenset[str]] = {
    "en": frozenset(_ENGLISH.split()),
    "it": frozenset(_ITALIAN.split()),
}
"""What may be dropped from a query of that language."""

_PROOFS: Mapping[str, frozenset[str]] = {
    "en": frozenset(_ONLY_ENGLISH.split()),
    "it": frozenset(_ONLY_ITALIAN.split()),
}


def guess_language(words: Sequence[str]) -> str | None:
    """Return `en` or `it` when the folded words of a query leave no doubt, else None.

    >>> guess_language(["perche", "abbiamo", "scelto", "sqlite"]), guess_language(["ai", "come"])
    ('it', None)
    """
    found = {
        language: sum(word in proofs for word in words) for language, proofs in _PROOFS.items()
    }
    if found["en"] == found["it"]:
        return None
    return max(found, key=lambda language: found[language])

"""The words by which people say that something is decided, done, open, or went wrong.

English in full, and the plain words for it in the languages that teams write their notes in.
"""

from __future__ import annotations

import re
from functools import cached_property


class Cue:
    """Ways to say one thing, in any case; compiled on first use, since a text meets few of all."""

    def __init__(self, *patterns: str) -> None:
        self._patterns = patterns

    @cached_property
    def _ways(self) -> list[str]:
        return [way for pattern in self._patterns for way in _parted(pattern)]

    @cached_property
    def _plain(self) -> re.Pattern[str]:
        """The ways that ASCII text may meet: it is spared all other scripts."""
        # A pattern is tried at each place of a text; with one test for "a word begins here" before
        # all others, most places cost no more than that.
        plain = [way for way in self._ways if way.isascii()]
        begun = [way.removeprefix(r"\b") for way in plain if way.startswith(r"\b")]
        first = [way.removeprefix("^") for way in plain if way.startswith("^")]
        rest = [way for way in plain if not way.startswith((r"\b", "^"))]
        groups = [rf"\b(?:{'|'.join(begun)})"] * bool(begun) + [rf"^(?:{'|'.join(first)})"] * bool(
            first
        )
        return re.compile("|".join([*groups, *rest]) or "(?!)", re.IGNORECASE)

    @cached_property
    def _wide(self) -> re.Pattern[str]:
        wide = [way for way in self._ways if not way.isascii()]
        return re.compile("|".join(wide) or "(?!)", re.IGNORECASE)

    def is_in(self, text: str) -> bool:
        """Whether a text says it anywhere."""
        if text.isascii():
            return bool(self._plain.search(text))
        straight = text.replace("’", "'")
        return bool(self._plain.search(straight) or self._wide.search(straight))


def _parted(pattern: str) -> list[str]:
    """Split a pattern at the bars that stand in no group."""
    ways = [""]
    depth = 0
    for part in re.findall(r"\\.|\[(?:\\.|[^\]\\])*\]|.", pattern):
        depth += {"(": 1, ")": -1}.get(part, 0)
        if part == "|" and not depth:
            ways.append("")
        else:
            ways[-1] += part
    return ways


_WE = r"\b(?:we|I|they|team)(?:'ve| have| had| all)?(?: now| finally| also| just)?"
_SHALL = r"\b(?:we(?:'ll| will| shall| are going to))(?: just| then| now)?"
_VERB = (
    r"(?:use|keep|take|drop|leave|switch|move|stay|make|ship|skip|do|postpone|have|split|store|write"
    r"|put|stop|start|remove|treat|stick|go|add|build|buy|call|change|close|copy|create|cut|delete"
    r"|deploy|fix|give|ignore|include|let|merge|open|order|prefer|push|reject|rename|replace|return"
    r"|run|send|set|show|swap|test|try|turn|update|avoid|accept|refuse|read|print|allow|forbid)"
)
# "We know", "we need", "we tried": what is so, is missing or was, not what is decided.
_NOT_CHOSEN = (
    r"(?:need|have|are|were|had|did|do|can|could|should|would|might|may|must|think|know|see"
    r"|saw|got|get|was|owe|found|lost|made|ran|hope|still|all|both|never)"
)

# Somebody says that it is so from now on.
DECIDED = Cue(
    rf"{_WE} (?:decided?|agreed?|chose|settled|opted|picked|concluded|rejected)\b",
    rf"{_SHALL} (?:not )?{_VERB}\b",
    r"\blet'?s (?!see\b|look\b|list\b|think\b|wait\b|talk\b|say\b)\w+",
    r"\b(?<!\bif )(?<!\bwhen )(?<!\bdo )(?<!\bshould )(?<!\bwhat )(?<!\bhow )(?<!\bwhy )"
    r"(?<!\bwould )(?<!\bthat )we(?: now| only| just)? (?:take|keep|drop|go|stay|switch|leave"
    r"|stick|rename|split|remove|stop|accept|refuse|reject|order)\b",
    r"\bwe (?:do not|don't|won't|will not) "
    r"(?!know|have|need|think|want|see|get|care|mind)\w+",
    r"\b(?:decided|agreed)(?: (?:to|that|on|against|not|with)\b|:|\.?$)",
    r"\b(?:it is|it's|that's|was|is|are|were|been) (?:decided|agreed|settled|chosen)\b",
    r"\b(?:settled on|opted for|chosen option|final (?:answer|decision|call))\b",
    r"\bdecisions?\b\W{0,3}(?::|\bis\b|\bwas\b|—)|^\W*\w+(?:\W\w+)? it is\b",
    r"\b(?:so|then) .{1,30} it (?:is|will be)\b",
    r"\b(?:go|going|went|stick|sticking|stuck) with\b(?! (?:it|that)\?)",
    r"\b(?:from now on|we no longer|until further notice)\b",
    r"\b(?:use|uses|keep|keeps|take|prefer)\b.{1,60}\b(?:instead of|rather than)\b",
    r"\b(?:ent|be)schlossen\b|\bentschieden\b|\bentscheidung\b|\bgeeinigt\b|\beinigen uns\b",
    r"\bwir (?:nehmen|bleiben bei|verwenden|lassen|machen)\b|\bfestgelegt\b",
    r"\bab (?:jetzt|sofort)\b|\bbleib(?:t|en) (?:bei|beim|am|auf|so)\b",
    r"\bdécid(?:é|és|ée|ons|ent)\b|\bdécision\b|\bconvenu\b|\bdésormais\b",
    r"\b(?:on|nous) (?:garde|gardons|prend|prenons|part sur|choisit|retient|retenons|passe)\b",
    r"\bdecid(?:imos|ido|ió)\b|\bdecisión\b|\bacord(?:amos|ado|ó)\b|\bnos quedamos con\b",
    r"\bse quedan? (?:en|con|como)\b|\bcambiamos\b|\busamos\b",
    r"\bdecisão\b|\bcombinado\b|\bficamos com\b|\bdeciso\b|\bdecisione\b|\bconcordato\b",
    r"\bрешил[иаио]?\b|\bрешено\b|\bрешение\b|\bдоговорились\b|\bостановились на\b|\bоставляем\b",
    r"決定|決めた|決めまし|決まっ|ことに(?:する|した|なった|します|しました)|とする[。．]?$",
    r"决定|定了|确定(?:使用|用)|一致同意|改用|采用|(?:保持|维持).{1,20}不变",
    r"결정|정했|하기로|قرر|قرار|اتفقنا|तय (?:किया|हुआ|रहा)|फ़ैसला|निर्णय|ตัดสินใจ|ตกลงว่า",
)
# What a person asks for is so as well.
_LEAD = (
    r"(?:(?:ok(?:ay)?|yes|yep|no|nope|right|good|fine|then|so|and|sure|great|perfect|until then"
    r"|for now|in that case|instead|also|first|one more thing|agreed)\b[,.!: ]*)*"
)
ASKED_FOR = Cue(
    rf"^{_LEAD}(?:please )?(?:never|always|don't|do not|only|make sure|no more|name it)\b",
    rf"^{_LEAD}(?:please )?{_VERB}\b(?!ing)",
    r"^(?:yes|yep|no|nope|ok(?:ay)?|agreed|right|exactly|sure)\b[,.:]? +(?!idea\b|problem\b)\w",
    rf"^(?:{_LEAD})we (?!{_NOT_CHOSEN}\b)(?!\w+ed\b)[a-z]+",
    r"\b(?<!we )(?<!somebody )(?<!someone )(?<!you )must(?: not)?\b(?! have\b)",
    r"\b(?:only|first)[.!]?$",
    r"^(?:bitte )?(?:nie|niemals|immer|nimm|nehmt|lass|kein[e]?)\b|^ja, ",
    r"^(?:jamais|toujours|utilise[zr]?|garde[zr]?|prends|nunca|siempre|usa|mejor)\b|^(?:oui|sí), ",
    r"^(?:никогда|всегда|используй(?:те)?|оставь(?:те)?|не надо)\b|^да, ",
    r"してください|しないで|不要|请用|必须",
)
UNDECIDED = Cue(
    r"\b(?:not|never|n't|yet to|nothing|nobody|before|until)\b.{0,25}"
    r"\b(?:decid|agree|settl|chos|pick)",
    r"\bundecided\b|\b(?:decide|decision)\b.{0,30}\b(?:later|pending|tomorrow|open|next week)\b",
    r"\b(?:to be|should be|must be|has to be|needs? to be|who|can you|should we|we (?:must|should))"
    r" (?:be )?decided?\b",
    r"noch nicht (?:entschieden|beschlossen)|pas encore décidé|не решено|не решили",
    r"未决定|未決定|決まっていない",
)
OPEN = Cue(
    r"\bto-?dos?\b|\bfixme\b|\btbd\b|\btbc\b",
    r"\bstill (?:open|unclear|missing|to (?:be|do)|needs?|have to|has to|unknown|fails?|broken)\b",
    r"\bopen (?:question|point|issue|end|item|task)s?\b",
    r"\b(?:as|is|are|left|stays?|remains?) open\b",
    r"(?:\b(?:not|no)\b|n't\b).{0,80}\byet\b|\byet to\b",
    r"\bnot (?:decided|clear|sure whether)\b",
    r"\bhave(?: not|n't) (?:looked|tried|tested|checked|measured|decided|asked)\b|\bsleep on it\b",
    r"\b(?:is|are|also|still) missing\b|\bhave to (?:talk|ask|check|find)\b|\bnobody has\b",
    r"\b(?:is|are) (?:still )?needed\b|\bfor another day\b|\bnot (?:now|today|tonight)\b",
    r"\bnext steps?\b|\bfollow[- ]?ups?\b|\bremain(?:s|ing)\b|\bleftover\b",
    r"\bunresolved\b|\bundecided\b|\boutstanding\b|\b(?:is|are|still) pending\b|\bunclear\b",
    r"^pending\b",
    r"\bneeds? (?:to be|another|more work|a (?:test|check|review|decision|look|follow|ticket))\b",
    r"\bblocked (?:on|by)\b|\bwaiting (?:for|on)\b|\bon hold\b",
    r"\b(?:left|something|one|saved?|park(?:ed)?) for (?:later|tomorrow|another|next)\b",
    r"\bsome(?:body|one) (?:must|should|has to|needs to)\b|\bwe (?:should|must|still) (?:also )?"
    r"(?:check|find out|test|ask|measure|decide|look|document|update|add|revisit)\b",
    r"\bdo not know (?:yet|why|whether)\b|\bdon't know (?:yet|why|whether)\b",
    r"\boffen(?:e[nrs]?)?\b|\bnoch (?:zu|nicht|offen|unklar)\b|\bungeklärt\b",
    r"\bsteht (?:noch )?aus\b",
    r"\breste(?:nt)? (?:à|ouvert)|\bà (?:faire|vérifier|décider|voir)\b|\bpas encore\b",
    r"\ben suspens\b",
    r"\bquedan? por\b|\bpendientes?\b|\bfalta(?:n)? (?:por )?\w+|\bpor (?:hacer|decidir)\b",
    r"\b(?:todavía|aún) no\b",
    r"\bосталось\b|\b(?:ещё|еще) (?:не|надо|нужно)\b|\bоткрыт\w* вопрос|\bне решено\b|\bпока не\b",
    r"未定|未解決|未対応|残り|まだ|要確認|宿題|課題",
    r"待(?:办|定|解决|确认)|未(?:解决|完成|确定|决定)|还(?:没|需|要)|尚未|遗留",
    r"아직|미정|보류|لم .{1,30} بعد|معلق|अभी (?:बाकी|नहीं)|बाकी है|ยังไม่",
)
# An open end only near the end of a conversation: before, it mostly was done right after.
SHOULD = Cue(
    r"\b(?:I'm|I am|we're|we are|is) going to\b",
    r"\b(?:I|we|he|she|they)(?:'ll| will) (?:talk|send|ask|check|find out|look into|see"
    r"|test|try|get)\b",
    r"\b(?:should|need(?:s)? to|have to|has to|must)\b|\b(?:tomorrow|next week|next time|later)\b",
    r"\b(?:muss|müssen|sollten?|morgen|nächste Woche)\b|\b(?:il faut|demain|hay que|mañana)\b",
    r"\b(?:надо|нужно|завтра)\b|明日|来週|明天|下周|需要",
)
DONE = Cue(
    r"^(?:done|fixed|added|changed|removed|renamed|moved|updated|implemented|replaced|created|wrote"
    r"|merged|released|deployed|migrated|refactored|reverted|measured|dropped|installed)\b",
    r"\b(?:I|we)(?:'ve| have)?(?: now| also| just| then)? (?:fixed|added|changed|removed"
    r"|renamed|moved|updated|implemented|replaced|created|wrote|written|merged|released|deployed|migrated"
    r"|refactored|reverted|measured|split|dropped|installed|ran|rewrote|rewritten|tested|made"
    r"|put)\b",
    r"\b(?:is|are|was|were|has been|have been|now) (?:now )?(?:fixed|done|in place|merged|deployed"
    r"|released|removed|replaced|migrated|green|live|implemented|moved|renamed)\b",
    r"\btests? (?:now )?(?:pass|are green)\b|\ball (?:tests|checks)? ?(?:pass|green)\b",
    r"\b(?:erledigt|behoben|eingebaut|umgestellt|hinzugefügt|entfernt)\b",
    r"\b(?:corrigé|ajouté|supprimé|terminé|remplacé)\w*|\b(?:corregido|añadido|hecho)\b",
    r"\b(?:сделал|исправил|исправлен|добавил|удалил|готово)\w*",
    r"完了|修正し|追加し|対応済|直し(?:た|まし)|已(?:经)?(?:修复|完成|添加|删除|改)|완료|수정했|추가했",
)

NOT_DONE = Cue(r"^if\b", r"\b(?:would|could|should|if we|if you|unless)\b")

OPEN_TITLE = Cue(
    r"\bopen\b|\bto-?dos?\b|\bnext\b|\bfollow-?ups?\b|\bremaining\b|\boutstanding\b|\bunresolved\b",
    r"\bparking lot\b|\b(?:left|still) to\b|\blater\b|\bquestions?\b|\boffen\w*",
    r"\bnoch zu\b|\bà faire\b",
    r"\bpendientes?\b|\bnächste\w*|\bprochaine?s?\b|\bpróximos?\b|\bследующ\w*|осталось|открыт",
    r"未|残|課題|次回|待|遗留|下一步",
)
DECIDED_TITLE = Cue(
    r"^(?:what (?:we|was) )?(?:decided|agreed|resolved|resolutions?)\b",
    r"\bbeschl(?:uss|üsse|ossen)\b|\bentscheidung\w*|\bdécisions?\b|\bdecisiones\b|\bdecisões\b|\bрешения\b|決定|决定",
)
DONE_TITLE = Cue(
    r"\bdone\b|\bchanges?\b|\bchanged\b|\bcompleted\b|\bimplemented\b|\bresults?\b|^fixe[sd]\b",
    r"\bin place\b|\berledigt\b|\bfait\b|\bhecho\b|\bсделано\b|完了|対応|已完成",
)
GOAL_TITLE = Cue(
    r"^(?:the )?(?:goals?|objectives?|aims?|purpose|task|problem|summary|ziel|aufgabe|objectif|but"
    r"|objetivo|цель|задача)\b",
    r"^(?:目的|目標|目标|任务)",
)
GOAL_FIELD = re.compile(
    r"(?:\*\*)?(?:goal|objective|aim|task|ziel|aufgabe|objectif|objetivo|цель|задача|目的|目標|目标)"
    r"(?:\*\*)?[:：](?:\*\*)?\s*(?P<text>.+)",
    re.IGNORECASE,
)

ERROR = Cue(
    r"\b(?:\w*error|\w*exception|fatal|panic|failed|failures?|fails?|segmentation fault|denied"
    r"|refused|timed? ?out|no such file|not found|undefined|cannot|could not|unable to|killed"
    r"|critical|aborted|violates|deadlock)\b(?!: 0\b)",
    r"^E {3}|✗|✘|❌|ошибка|エラー|失败|失敗|错误|오류|\bfehler\w*|\berreur\b",
)
OUTCOME = Cue(
    r"\b\d+ (?:passed|failed|errors?|warnings?|skipped|tests?)\b",
    r"\bbuild (?:succeeded|successful|failed)\b|\b(?:exit|exited|return)(?:ed)?(?: with)?"
    r"(?: code| status)?:? \d+\b|\bsuccess(?:ful|fully)?\b|✓|✔|✅|^ok\b|^PASS\b|^FAIL\b",
    r"\d+ files? changed\b|^\[[\w./-]+ [0-9a-f]{7,}\]",
)
NO_OUTCOME = Cue(r"\b(?:0|no) (?:errors?|failed|failures?|warnings?)\b")

# A line that only a program prints: a banner, the head of a diff, of a commit or a traceback.
PRINTED = re.compile(
    r"(?:={3,}|_{3,}|-{3,}) .+ (?:={3,}|_{3,}|-{3,})$|diff --git |@@ -\d|commit [0-9a-f]{40}$"
    r"|Traceback \(most recent call last\)|\$ \w"
)
# A line of a log: it begins with a time, a date or a level.
LOG_LINE = re.compile(
    r"\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ,]|\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d"
    r"|(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b|level=|time=|\d{10}\b)"
)

"""The words by which a sentence shows that it holds beyond its conversation, and as what.

Few and sure rather than many: what is remembered wrongly is worse than what is not remembered.
"""

from __future__ import annotations

from memcli.text.cues import Cue


def _cue(*patterns: str) -> Cue:
    """Ways to say one thing, tried on every text: one pattern often serves words with accents and
    without, which `Cue` would keep from a text that has none.
    """
    return Cue(*(one.encode("ascii", "backslashreplace").decode() for one in patterns))


# What a person likes, and how they always do it.
PREFERENCE = _cue(
    r"\bI(?: (?:really|much|always|strongly|still|generally|usually|personally|definitely|do))? "
    r"prefer\b",
    r"\bI(?:'d| would)(?: much| really| always)? (?:prefer|rather (?!not\b|say\b|be\b|go\b|wait\b"
    r"|see\b|die\b))",
    r"\bI (?:can't|cannot) stand\b(?! (?:up|here|it|this|that)\b)",
    r"\bI(?: really| absolutely)? (?:hate|dislike|avoid) (?!it\b|this\b|that\b|to (?:say|be"
    r"|ask)\b)",
    r"\bI (?:don't|do not|never) (?:really )?(?:like|use|drink|eat|work with|read) "
    r"(?!it\b|this\b|that\b|the (?:way|look|sound|idea)\b|to (?:say|be|do|go|know|think)\b)",
    r"\bI(?: really)? like (?:my|to have|to see|to keep|having|getting|seeing|it when|when) ",
    r"\bI(?: always|'m always| usually| generally| only ever| only| mostly)"
    r" (?:use|write|work|drink|eat|read|run|commit|deploy|code|name|put|keep|start|test|wear) ",
    r"\b(?:is|are) my (?:favou?rite|preferred)\b|^my (?:favou?rite|preferred|default) \w+.* (?:is"
    r"|are)\b",
    r"\bich (?:bevorzuge|mag (?:lieber|keine?[nr]?)|hasse|hätte lieber|habe lieber)\b",
    r"\bich (?:nutze|verwende|benutze|schreibe|arbeite|esse|trinke|will|möchte)"
    r" (?:immer|nie|grundsätzlich|nur|keine?[nr]?|lieber) ",
    r"\bje (?:préfère|préférerais|déteste|n'aime pas|ne supporte pas)\b",
    r"\bj'(?:utilise|écris) (?:toujours|uniquement) ",
    r"\b(?:prefiero|preferiría|odio|no me gustan?)\b|^(?:yo )?siempre (?:uso|escribo|trabajo) ",
    r"\b(?:prefiro|preferia|detesto|não gosto de)\b|\bpreferisco\b|\bnon mi piac(?:e|ciono)\b",
    r"\bik (?:geef de voorkeur|heb liever|gebruik altijd|houd niet van)\b|\bwolę\b",
    r"\b(?:я )?(?:предпочитаю|терпеть не могу|ненавижу|всегда (?:использую|пишу))\b|\bя не люблю\b",
    r"の?(?:方|ほう)が(?:好き|いい(?:です|と思)|良いです)|が(?:好き|嫌い|苦手)(?:です|だ)?[。．]?$|を好み(?:ます)",
    r"我(?:更|比较|还是)?(?:喜欢|偏好|倾向于?)|我(?:不喜欢|讨厌|总是(?:用|写)|从不用|习惯(?:用|先))",
    r"(?:선호(?:합니다|해요|해)|더 좋(?:아요|아합니다|습니다)|(?:이|가) 싫(?:어요|습니다))",
)
# What is to be done from now on, each time.
_GIVEN = r"(?:(?:ok(?:ay)?|yes|no|and|so|also|but|then|right|good|fine|btw|by the way)\b[,.!: ]*)*"
_POLITE = r"(?:please,? |pls )?"
_DO = (
    r"(?:add|ask|answer|apply|build|call|change|check|commit|copy|create|delete|deploy|drop|edit"
    r"|expose|force-push|format|hard-?code|ignore|import|include|install|keep|leave|log|make"
    r"|mention|merge|mock|modify|name|pin|prefix|print|push|put|quote|read|rebase|remove|rename"
    r"|reply"
    r"|report|respond|return|run|send|share|show|sign|skip|sort|speak|squash|start|store|suggest"
    r"|tell|test|touch|translate|update|use|validate|verify|wrap|write)"
)
INSTRUCTION = _cue(
    rf"^{_GIVEN}{_POLITE}(?:always|never|only ever) {_DO}\b",
    rf"^{_GIVEN}{_POLITE}(?:from now on|from here on|going forward|in (?:the )?future|in general"
    rf"|as a rule|by default|(?:when|every time|whenever|each time|before|after) you [^,]{{3,60}}),"
    rf" ?{_POLITE}(?:always |never |do not |don't )?{_DO}\b",
    rf"^{_GIVEN}{_POLITE}{_DO} .{{2,160}}\b(?:from now on|going forward|every time|each time"
    r"|at all times|whenever|without exception)\b",
    rf"^{_GIVEN}{_POLITE}(?:do not|don't|dont) (?:ever )?{_DO}\b",
    rf"^{_GIVEN}(?:you|everyone|everybody|nobody|no one|all of us|we) (?:should|must|shall|are to"
    rf"|may|has"
    rf" to|have to) (?:always|never|only)\b|^{_GIVEN}(?:nobody|no one) (?:may|must|shall)\b",
    rf"^{_GIVEN}{_POLITE}(?:make sure|ensure) (?:that )?(?:you |we |it |to )?(?:always|never)\b",
    r"\bI (?:want|need|expect) you to (?:always|never)\b|\bI want all \w+",
    rf"^{_GIVEN}{_POLITE}(?:answer|reply|respond|speak|talk)(?: to me)?(?: always| only)?"
    r" (?:in|with|without|briefly|short)\b|^call me (?!back\b|when\b|if\b|later\b|crazy\b|at\b"
    r"|on\b)\w+",
    r"^(?:und |ok,? |also )?(?:bitte )?(?:niemals|nie|immer|ab sofort|ab jetzt|künftig|in zukunft"
    r"|grundsätzlich)\b.*\w+en\b",
    r"^(?:bitte )?(?:antworte|schreib|verwende|benutze|nutze|frag|teste|nenn|mach|lass|starte"
    r"|lösche"
    r"|prüfe?)[et]?(?:n sie)?\b.*\b(?:immer|nie|niemals|nur|grundsätzlich|ab sofort|ab jetzt"
    r"|künftig"
    r"|keine?[nr]?)\b",
    r"^(?:s'il (?:te|vous) plaît,? )?(?:n'|ne )\w+[- \w]* (?:jamais|plus jamais)\b",
    r"^(?:s'il (?:te|vous) plaît,? )?(?:utilise[rz]?|répond[sez]*|écri[svezr]+|demande[rz]?"
    r"|lance[rz]?"
    r"|vérifie[rz]?|fai(?:s|tes)) (?:toujours|uniquement)\b|^(?:désormais|à partir de maintenant"
    r"|toujours)"
    r",? (?:utiliser|répondre|écrire|écris|utilise|demander|demande|lancer|lance)\b",
    r"^(?:por favor,? )?(?:nunca|siempre) (?:\w+es|\w+as|usa|usar|escrib\w+|pregunt\w+|ejecut\w+"
    r"|borr\w+)\b",
    r"^(?:por favor,? )?(?:usa|responde|escribe|pregunta|ejecuta) (?:siempre|solo|sólo)\b"
    r"|^no \w+(?:es|as)"
    r" nunca\b|^(?:a partir de ahora|de ahora en adelante),? ",
    r"^(?:por favor,? )?(?:nunca|sempre) (?:us[ea]|escrev\w+|apagu\w+|respond\w+|pergunt\w+"
    r"|rod[ea])\b",
    r"^(?:a partir de agora|d'ora in poi|vanaf nu),? |^non \w+ mai\b|^(?:usa|scrivi|rispondi"
    r"|chiedi) sempre\b",
    r"^(?:gebruik|schrijf|antwoord) (?:altijd|nooit)\b|^(?:zawsze|nigdy nie) \w+",
    r"^(?:пожалуйста,? )?(?:всегда|никогда)(?: не)? \w+(?:й|йте|(?<!ш)ь|ьте|и|ите)\b|^(?:впредь"
    r"|отныне"
    r"|с этого"
    r" момента),? |^(?:пожалуйста,? )?(?:отвечай|пиши|используй|спрашивай)(?:те)? (?:всегда"
    r"|только)\b",
    r"(?:必ず|常に|いつも|今後は|絶対に|毎回).{1,60}(?:ください|すること|しないで|して。?$)"
    r"|.{2,60}(?:ないでください|ないこと)[。．]?$",
    r"^(?:请)?(?:以后|今后|从现在起|从今以后|始终|永远|务必|一律|总是要?|每次).{2,60}"
    r"|^(?:请)?(?:永远|绝对|以后)?(?:不要|别|禁止)(?:再|直接|在|把|用|使用|提交|修改|删除).{2,60}|请(?:始终|务必|总是|永远)",
    r"(?:항상|절대|앞으로|반드시|매번).{2,80}(?:세요|십시오|마라|말 것|주세요|할 것)[.。]?$",
)
# What was decided, what bounds the work, and what is so.
_WE = r"\b(?:we|the (?:team|board|group))(?:'ve| have)?(?: now| finally| also| just| all| both)?"
DECISION = _cue(
    rf"{_WE} (?:decided|agreed|chose|settled|opted|picked) (?!to (?:meet|talk|wait|look|try|ask"
    rf"|go)\b)",
    r"\bI(?:'ve)?(?: now| finally)? decided (?:to|against|on) (?:use|using|keep|keeping|drop"
    r"|dropping|stay|switch|move)\b",
    r"\bit (?:is|was|has been) (?:decided|agreed|settled) (?:that|to|on)\b|^(?:final )?decision: ",
    rf"^{_GIVEN}we no longer\b|^{_GIVEN}(?:from now on|until further notice),? ",
    rf"^{_GIVEN}we(?:'ll| will) (?:keep|use|stay|stick|drop|support|standardi[sz]e|target"
    rf"|adopt|(?:switch|move) to)"
    r" (?!it\b|this\b|that\b|you\b|an eye\b|in touch\b|\w+ing\b|to the\b)",
    # Of something with a name, and for something or rather than another: "let's run the tests" and
    # "let's use a loop here" are of the moment.
    rf"^{_GIVEN}(?:let'?s|let us|we(?:'ll| will|'re going to| are going to)) (?:use|keep|adopt"
    r"|(?:go|stay|stick) (?:with|on|to)|(?:switch|move|stay) (?:to|on)|standardi[sz]e on)"
    r" (?=(?:the )?(?-i:[A-Z`])).{2,60}?\b(?:for (?!a\b|now\b)|instead of\b"
    r"|rather than\b|over\b|not\b|from now on\b)",
    r"\bwir (?:haben|hatten) (?:uns )?.*(?:beschlossen|entschieden|geeinigt|festgelegt)\b"
    r"|\bwir bleiben bei\b",
    r"\b(?:es|das) (?:ist|wurde) (?:beschlossen|entschieden|festgelegt)\b|^(?:beschluss"
    r"|entscheidung): ",
    r"\b(?:on a|nous avons|c'est) (?:décidé|choisi|convenu|retenu) (?:de|d'|que|pour)\b"
    r"|^décision : ",
    r"\b(?:hemos decidido|decidimos|acordamos|se decidió|quedamos en)\b|^decisión: ",
    r"\b(?:decidimos|ficou decidido|foi decidido|abbiamo deciso|è stato deciso"
    r"|we hebben besloten)\b",
    r"\bмы (?:решили|договорились|выбрали|остановились на)\b|^(?:решили|решено|договорились)[: ]",
    r"(?:こと|と)に(?:決め(?:た|ました)|決まり(?:ました)?|決定しま?した)|に決めました|を採用することにし",
    r"我们(?:已经?|最后|最终)?(?:决定|约定|一致同意|选定)"
    r"|^(?:最终)?决定[:：]|(?:하기로|쓰기로) (?:했|정했|결정)",
)
CONSTRAINT = _cue(
    r"^(?!(?:we|I|you|they|he|she|it|there|what|who|this"
    r"|that)\b)[\w`./-]+ .{0,60}?(?<!you )(?<!we )(?<!I )(?<!there )(?<!it )(?<! a )(?<!'ll )"
    r"\b(?:must(?: not| never| always| only)?|may not|may only|shall(?: not)?|(?<!n't )(?:has"
    r"|have) to)"
    r" (?!have\b|still\b|feel\b|look\b|seem\b|mean\b|make\b|come\b|know\b|love\b|like\b|if\b"
    r"|be\b(?! (?:able|\w+er than|more than|less than|kept|run|sent|written|built|done|made|set"
    r"|shown|read|unique|at (?:least|most)|\w{3,}ed)\b))\w+",
    r"\b(?:is|are) (?:not allowed|forbidden|prohibited|mandatory|off limits)\b|\b(?:is"
    r"|are) allowed only\b",
    r"^(?:the|our) (?:\w+ ){0,3}(?:limit|deadline|budget|quota|time ?out|retention|maximum|minimum)"
    r"(?: \w+){0,4} (?:is|are) (?!not clear\b|unclear\b|too\b|over\b|gone\b|wrong\b|still\b"
    r"|missing\b)",
    r"^(?:at most|at least|no more than) \d",
    r"^(?:der|die|das|alle|jede[rs]?|keine?|unsere?) .{1,60}\b(?:muss|müssen|darf|dürfen)\b",
    r"^\w+ (?:müssen|dürfen)\b(?! wir\b).{5,}|^(?:le|la|les|tous|toutes|chaque|aucun[e]?) .{1,60}\b"
    r"(?:doit|doivent|ne peu(?:t|vent) pas)\b|^(?:el|la|los|las|todos?|todas?"
    r"|cada) .{1,60}\bdeben?\b",
    r"^\w+ .{0,60}\b(?:должн[аоы]?|обязан[аы]?|нельзя"
    r"|запрещено)\b|.{3,60}(?:なければなりません|てはいけません"
    r"|禁止です)"
    r"|.{2,40}(?:必须|不得|禁止|不允许).{2,40}",
)
SETTLED = _cue(
    rf"^{_GIVEN}(?:(?:remember|note|keep in mind)(?: that|:)|(?:for the record|fyi"
    rf"|for your information)\b[:,]?(?: that)?)"
    r" (?!you\b|that you\b)\w",
    rf"^{_GIVEN}(?:merk dir|denk daran|zur info)\b|^(?:retiens|souviens-toi|pour info|à noter)\b"
    r"|^(?:recuerda|ten en cuenta)\b|^(?:lembra|lembre-se|ricorda(?:ti)?|onthoud)\b|^(?:запомни"
    r"|учти)(?:те)?\b"
    r"|覚えておいて|^(?:请)?记住|기억해",
    rf"^{_GIVEN}we (?:only |always |now |all )?(?:use|run|deploy|host|store|support|target|ship"
    rf"|release|require)"
    r" (?!it\b|this\b|that\b|to\b|the same\b|into\b|out of\b|a lot\b)",
    r"^(?:the|our|my) .{2,50} (?:is|are) (?:called|named|owned by|maintained by|written in"
    r"|hosted (?:on|at|in|by)"
    r"|stored (?:in|on|at)|deployed (?:to|on)|run by|kept (?:in|on|at|for))\b",
    r"^(?:the|our|my) .{2,50} (?:lives?|runs?|listens?) (?:in|on|at|under|behind) (?:[A-Z\d`/~:]"
    r"|port\b|the\b)",
    r"\bwird (?:in|auf|von) .{2,40} (?:betrieben|gehostet|gespeichert|gepflegt)\b",
)
# What is so of the person who says it.
OWN = _cue(
    r"^I(?:'m| am) (?:allergic|vegan|vegetarian|left-handed|deaf|colou?r[- ]?blind|dyslexic"
    r"|based in|from"
    r" (?=[A-Z])|responsible for|in charge of|an? (?:\w+ ){0,2}(?:engineer|developer|designer"
    r"|teacher|nurse|doctor"
    r"|student|researcher|writer|analyst|administrator|manager|scientist|lawyer|chef)\b)",
    r"^I (?:live|work) (?:in|at|for|as) (?!peace\b|here\b|the\b|my\b|progress\b|it\b|that\b|this\b"
    r"|a (?:hurry|mess)\b)",
    r"^my (?:name|editor|shell|os|operating system|time ?zone|birthday|pronouns"
    r"|e-?mail(?: address)?|keyboard"
    r"(?: layout)?|native language|job|title|role|team|manager"
    r"|phone(?: number)?)(?: address)? (?:is|are) "
    r"(?!broken\b|slow\b|not\b|gone\b|full\b|down\b|still\b|dead\b|on\b|too\b|like\b|so\b|very\b)",
    r"^ich (?:wohne in|arbeite (?:bei|als)|bin (?:allergisch|vegetarier|veganer))|^mein name ist\b",
    r"^(?:je m'appelle|j'habite à|je travaille (?:chez|comme)|je suis (?:allergique|végétarien))",
    r"^(?:me llamo|vivo en|trabajo (?:en|como)|soy alérgic[oa])|^меня зовут |^я (?:живу в"
    r"|работаю в) ",
    r"私の名前は|^我叫|^我住在|^我的(?:名字|时区|邮箱)是",
)

# A sentence with one of these is not sure, not meant to last, or not the speaker's own.
_UNSURE = _cue(
    r"\b(?:maybe|perhaps|probably|possibly|presumably|might|could|suppose|imagine|hypothetically"
    r"|in theory"
    r"|I (?:think|guess|wonder|believe|assume|hope|suspect|feel like|bet)|not sure|no idea"
    r"|unless I|what if"
    r"|how about|what about|why (?:don't|not)|or (?:should|maybe|not)\b|do you (?:think|want)"
    r"|let me (?:know|see|think)"
    r"|can (?:you|we)|could you|would you|I was (?:going|thinking)|for example|for instance|e\.g\."
    r"|kidding|joking|lol|haha)",
    r"\bif (?:we|I|you|they|it|he|she) (?:\w+ed|had|were|was|used|did|could|would|ever)\b"
    r"|^if\b.*\b(?:would|could|might)\b",
    r"\b(?:we|they|it|you|he|she|which|that) would\b|\bwould (?:be|have|never|always|mean|cost"
    r"|break|need|take)\b"
    r"|\bit seems\b|\bseems? to\b|\bsounds? (?:good|great|fine)\b|\bshould we\b",
    r"\b(?:vielleicht|eventuell|womöglich|vermutlich|wahrscheinlich|könnten?|sollten wir|würden?"
    r"|ich glaube"
    r"|angenommen|zum beispiel)\b",
    r"\b(?:peut-être|pourrait|pourrions|devrait|je pense|je crois|probablement|supposons"
    r"|par exemple)\b",
    r"\b(?:quizás?|tal vez|podr[íi]a\w*|creo que|supongamos|por ejemplo|talvez|acho que|poderia"
    r"|forse|penso che"
    r"|potrebbe|misschien|zou)\b",
    r"\b(?:может быть|возможно|наверное|кажется|думаю|допустим|стоит ли|например|если бы)\b",
    r"かもしれ|と思(?:う|い|って)|たぶん|例えば|もし|ようか|也许|可能会?|大概|如果|要不要|是不是|比如|假设|我觉得|我想可能"
    r"|아마|만약|것 같|할까",
)
_PASSING = _cue(
    r"\b(?:today|tonight|tomorrow|yesterday|right now|for now|for the moment|at the moment"
    r"|just now|currently|this"
    r" (?:time|once|morning|afternoon|evening|week|weekend|month|branch|pr|one|file|test|function"
    r"|line|change|commit|run)|next"
    r" (?:time|week|month|step|sprint)|last (?:time|night|week|month|year)|in a (?:minute|moment"
    r"|bit)|as soon as"
    r"|yet|already (?:did|done|tried)|back then|at first|used to|ago|until (?:we|I|you|then"
    r"|tomorrow|monday|friday)"
    r"|first,? then|again|for once)\b",
    r"\b(?:on|by|until) (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b(?! (?:is"
    r"|are)\b)",
    r"\b(?:heute|morgen|gestern|gerade|im moment|vorerst|diesmal|nächste woche|letzte woche|damals"
    r"|noch nicht|nochmal)\b",
    r"\b(?:aujourd'hui|demain|hier|pour l'instant|cette fois|la semaine prochaine|à l'époque"
    r"|pas encore)\b",
    r"\b(?:hoy|mañana por|ayer|por ahora|esta vez|la próxima semana|todavía|hoje|amanhã|ontem"
    r"|por enquanto|oggi|domani|ieri)\b",
    r"\b(?:сегодня|завтра|вчера|сейчас|пока|на этот раз|на следующей неделе|ещё не)\b",
    r"今日|明日|昨日|今回|今のところ|とりあえず|来週|今天|明天|昨天|暂时|这次|下周|目前|오늘|내일|어제|이번|일단",
)
_REPORTED = _cue(
    r"\b(?:said|says|saying|told|tells|claims?|claimed|wrote|writes|asked|asks|suggests?|suggested"
    r"|recommends?"
    r"|recommended|according to|quote|quoting|reads|stated|mentioned|heard|apparently|supposedly"
    r"|allegedly)\b",
    r"\b(?:sagt(?:e|en)?|meint(?:e|en)?|laut|angeblich|dit que|a dit|selon|dice que|dijo|según"
    r"|disse|secondo|говорит"
    r"|сказал[аи]?|по словам|якобы)\b|によると|と言って"
    r"|そうです[。．]?$|(?:他|她|他们|文档|手册)说|据说|라고",
)
_VAGUE = _cue(
    r"^(?:it(?! (?:is|was|has been) (?:decided|agreed|settled)\b)|its|they|them|their|these|those"
    r"|this|that|he|she|which|who)\b",
    r"\b(?:it|this|these|those|them|so|too|like (?:this|that)|instead|here|there|that|the (?:first"
    r"|second|third|other|last"
    r"|former|latter|new|old|same)(?: one)?|(?:this|that|which|right|wrong) one|both|either"
    r"|as well|anyway|though)[.!,;:]*$",
    r"\b(?:prefer|like|use|keep|drop|take|do|choose|chose|decided|agreed|avoid|want|with|on|touch"
    r"|run|delete|store|call"
    r"|change) (?:it|this|these|those|them|that (?!\w+ \w+))\b",
    r"\b(?:the (?:first|second|third|other|former|latter|above|below) (?:one|option|design"
    r"|approach|version|variant|idea"
    r"|way|proposal|suggestion)|your (?:first|second|idea|approach|version|suggestion|plan"
    r"|proposal|change|last))\b",
    r"^(?:das|dies|es(?! (?:ist|wurde) (?:beschlossen|entschieden|festgelegt))|ça|cela|eso|esto"
    r"|isso|это|その|それ|これ|这个?|那个?|它)\b",
    r"^(?:这|那|它|这个|那个)|^(?:これ|それ|あれ|その|この)",
)


def is_sure(text: str) -> bool:
    """Whether a sentence claims what it says, for longer than the moment, in its speaker's name."""
    return not any(one.is_in(text) for one in (_UNSURE, _PASSING, _REPORTED))


def is_guess(text: str) -> bool:
    """Whether a sentence only supposes what it says."""
    return _UNSURE.is_in(text)


def is_lasting(text: str) -> bool:
    """Whether a retold fact may hold for months: no guess, not of the moment, understood alone."""
    return not any(one.is_in(text) for one in (_UNSURE, _PASSING, _VAGUE))


def is_vague(text: str) -> bool:
    """Whether a sentence cannot be understood alone: it points at something before it."""
    return _VAGUE.is_in(text)

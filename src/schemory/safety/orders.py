"""Phrases by which a text tries to command the agent that reads it, as data, by language.

The patterns run over text that `instructions.py` has normalised: lower case, Latin accents and
other combining marks of that block removed, one blank between words, no emphasis marks. They are
written with accents and pass through the same removal.
"""

# ruff: noqa: RUF001 (Cyrillic and Turkish letters stand here on purpose)
from typing import NamedTuple


class Order(NamedTuple):
    """A phrase of command.

    Attributes:
        words: The pattern is tried only where one of these stands in the normalised text.
        pattern: The phrase; it is searched in the normalised text.
    """

    words: tuple[str, ...]
    pattern: str


STRONG: tuple[Order, ...] = (
    # English: throw away what you were told
    Order(
        ("ignore", "disregard", "forget"),
        r"(?<!not )(?<!never )(?<!n't )\b(?:ignore|disregard|forget)\b"
        r"(?: (?:all|any|the|your|of|these|those|my|every|each|and)){0,5}"
        r" (?:previous|prior|above|earlier|preceding|former|foregoing|existing|original|initial|"
        r"other)"
        r"(?: (?:and|or|system|user|security|safety)){0,2}"
        r" (?:instruction|direction|prompt|rule|guideline|command|message|order|directive|"
        r"constraint)s?\b",
    ),
    Order(
        ("ignore", "disregard", "forget"),
        r"(?<!not )(?<!never )(?<!n't )\b(?:ignore|disregard|forget)\b (?:absolutely )?"
        r"(?:everything|anything|all)(?: that)?"
        r" (?:above|before this|you were told|you have been told|you've been told|i said before)",
    ),
    Order(
        ("ignore", "disregard", "forget", "override", "bypass"),
        r"(?<!not )(?<!never )(?<!n't )\b(?:ignore|disregard|forget|override|bypass)\b(?: all(?:"
        r" of)?)?"
        r" your (?:previous |own |current |system |safety |core )*"
        r"(?:instruction|rule|guideline|system prompt|safety|training|programming|restriction)s?\b",
    ),
    # English: be someone else from now on
    Order(
        ("you are now",),
        r"\byou are now (?:an? |the )?(?:[\w-]+ ){0,3}"
        r"(?:ai|assistant|agent|language model|chatbot|dan|unrestricted|jailbroken|hacker)\b",
    ),
    Order(
        ("you are now",),
        r"\byou are now (?:in (?:developer|god|admin|dan|jailbreak)\b|free (?:from|of)|no longer"
        r" bound)",
    ),
    Order(
        ("from now on",),
        r"\bfrom now on,? you (?:are|will|must|should|shall|have to) (?:always |only |never |now )?"
        r"(?:respond|answer|reply|act|behave|ignore|obey|follow|speak|pretend|be|an?)\b",
    ),
    Order(
        ("pretend",),
        r"\bpretend (?:to be|(?:that )?you are|(?:that )?you're) (?:an? )?(?:[\w-]+ ){0,3}"
        r"(?:ai|assistant|language model|unrestricted|admin|administrator)\b",
    ),
    Order(
        ("mode",),
        r"\b(?:dan|developer|jailbreak) mode (?:enabled|activated|on)\b",
    ),
    Order(
        ("new",),
        r"\bnew (?:system )?(?:instruction|prompt|persona|directive)s? ?:",
    ),
    # English: hide it, hand it over
    Order(
        ("tell", "inform", "mention", "reveal", "disclose", "show", "report"),
        r"\b(?:do not|don't|never) (?:tell|inform|mention|reveal|disclose|show|report)"
        r"(?: any of)? (?:this|these|it|that)(?: \w+){0,2} to (?:the |your )?(?:user|human|"
        r"operator|owner)",
    ),
    Order(
        ("tell", "inform", "alert", "notify"),
        r"\b(?:do not|don't|never) (?:tell|inform|alert|notify) (?:the |your )?(?:user|human|"
        r"operator)"
        r" (?:about|of|that you)\b(?: (?:this|these|it|are|were|have)\b)",
    ),
    Order(
        ("reveal", "print", "repeat", "output", "show", "leak", "disclose", "display", "dump"),
        r"\b(?:reveal|print|repeat|output|show|leak|disclose|display|dump)(?: me)? your"
        r" (?:entire |full |complete |hidden |original |initial |exact )*"
        r"(?:system prompt|system message|hidden instructions|initial instructions|instructions)\b",
    ),
    Order(
        ("send", "post", "upload", "forward", "email", "exfiltrate", "leak", "transmit"),
        r"\b(?:send|post|upload|forward|email|exfiltrate|leak|transmit)\b[^.\n]{0,30}"
        r"\b(?:conversation|chat history|system prompt|ssh keys?|private keys?|(?:all|your)"
        r" (?:secrets|"
        r"credentials|passwords|api keys|tokens|environment variables)|\.env(?: file)?)\b"
        r"[^.\n]{0,40} to (?:https?://|[\w.+-]+@)",
    ),
    Order(
        ("if you are a",),
        r"\bif you are an? (?:ai|llm|language model|assistant|agent|chatbot)\b[^.\n]{0,30}"
        r"\b(?:reading|processing|summari[sz]ing|analy[sz]ing|parsing) this\b",
    ),
    # The marks of chat templates, which end the data and begin a command
    Order(
        ("<|",),
        r"<\|(?:im_?start|im_?end|system|endoftext|start_?header_?id)\|>",
    ),
    Order(
        ("[inst]", "[/inst]", "<<sys", "<</sys", "system_prompt", "systemprompt"),
        r"\[/?inst\]|<</?sys>>|</?system_?prompt>",
    ),
    Order(
        ("system",),
        r"(?:^|\n)[ #>-]*system(?: message| prompt| override)? ?: ?(?:you|ignore|override|"
        r"disregard|new)\b",
    ),
    Order(
        ("system",),
        r"\b(?:begin|start|end) (?:of )?(?:new )?system (?:prompt|message)\b",
    ),
    # Italian
    Order(
        ("ignora", "dimentica", "scorda", "trascura"),
        r"\b(?:ignora(?:te|re)?|dimentica(?:te|re)?|scorda(?:te)?|trascura(?:te)?)"
        r"(?: (?:tutte|tutti|ogni|le|gli|i|di|da|delle))*"
        r" (?:istruzion[ei]|regol[ae]|direttiv[ae]|indicazion[ei]|ordin[ei]|comand[oi]|prompt)"
        r" (?:precedent[ei]|anterior[ei]|(?:qui |di )?sopra|ricevut[ei]|di sistema|che hai"
        r" ricevuto)",
    ),
    Order(
        ("ignora", "dimentica"),
        r"\b(?:ignora(?:te|re)?|dimentica(?:te|re)?)(?: (?:tutte|tutti|le|i))* precedenti"
        r" (?:istruzioni|regole|direttive|indicazioni|ordini|comandi)",
    ),
    Order(
        ("dimentica",),
        r"\bdimentica(?:te)? tutto (?:cio|quello) che (?:ti|vi) (?:e stato|hanno|ho) detto",
    ),
    Order(
        ("da ora in poi", "d'ora in poi", "da adesso"),
        r"\b(?:da ora in poi|d'ora in poi|da adesso),? (?:sei|rispondi|devi|agisci|comportati|"
        r"sarai)\b",
    ),
    Order(
        ("all'utente",),
        r"\bnon (?:dire|dirlo|rivelare|menzionare|riferire|mostrare)"
        r"(?: (?:nulla|niente|questo|queste|di|cio|istruzioni))* all'utente",
    ),
    # Spanish and Portuguese
    Order(
        ("ignor", "olvid", "descart", "omite", "caso omiso", "esquec", "desconsider"),
        r"\b(?:ignora|ignore|ignorad|olvida|olvide|descarta|descarte|omite|haz caso omiso de|"
        r"esqueça|"
        r"esquece|desconsidere|desconsidera)(?: (?:todas|cualquier|quaisquer|las|as|tus|sus|suas|"
        r"tuas))*"
        r" (?:instrucciones|reglas|indicaciones|ordenes|directrices|instruções|regras|orientações|"
        r"ordens|"
        r"diretrizes) (?:anteriores|previas|precedentes|de arriba|del sistema|prévias|acima|do"
        r" sistema)",
    ),
    Order(
        ("olvid", "ignora"),
        r"\b(?:olvida|olvide|ignora) todo lo (?:anterior|que te)",
    ),
    Order(
        ("a partir de",),
        r"\ba partir de (?:ahora|agora),? (?:eres|responde|responda|actua|actúa|debes|você é|tu"
        r" és|aja)\b",
    ),
    Order(
        ("al usuario",),
        r"\bno (?:se )?(?:lo )?(?:digas|reveles|menciones|informes)(?: (?:esto|nada|de))* al"
        r" usuario",
    ),
    # French
    Order(
        ("ignore", "oublie", "neglige", "pas compte"),
        r"\b(?:ignore[rz]?|oublie[rz]?|neglige[rz]?|ne (?:tiens|tenez) pas compte de)"
        r"(?: (?:toutes|tous|les|tes|vos|des|ces))*"
        r" (?:instructions|consignes|règles|directives|ordres)"
        r" (?:precedent(?:e?s)|ci-dessus|antérieure?s|du système)",
    ),
    Order(
        ("a partir de maintenant",),
        r"\bà partir de maintenant,? (?:tu es|vous êtes|tu dois|vous devez|réponds|répondez)\b",
    ),
    Order(
        ("a l'utilisateur",),
        r"\bne (?:le |la )?(?:dis|dites|révèle|révélez|mentionne|mentionnez)(?: \w+){0,3} à"
        r" l'utilisateur",
    ),
    # German and Dutch
    Order(
        ("ignorier", "vergiss", "vergessen", "missachte"),
        r"\b(?:ignoriere|ignorieren sie|vergiss|vergessen sie|missachte)"
        r"(?: (?:alle|die|sämtliche|deine|ihre))*"
        r" (?:vorherigen|bisherigen|vorigen|obigen|früheren|vorangegangenen|vorangehenden)"
        r" (?:anweisungen|instruktionen|regeln|befehle|vorgaben|prompts?)",
    ),
    Order(
        ("ab jetzt", "ab sofort", "ab nun"),
        r"\bab (?:jetzt|sofort|nun) (?:bist du|antwortest du|musst du|sollst du|antworte|verhalte"
        r" dich)\b",
    ),
    Order(
        ("dem benutzer", "dem nutzer", "dem anwender"),
        r"\b(?:sag|sage|verrate|erzähle?) (?:es |das |dies |davon )?dem (?:benutzer|nutzer|"
        r"anwender)"
        r" (?:nichts|nicht)",
    ),
    Order(
        ("negeer",),
        r"\bnegeer (?:alle |de )*(?:vorige|eerdere|voorgaande|bovenstaande)"
        r" (?:instructies|opdrachten|regels)",
    ),
    # Polish, Russian, Turkish
    Order(
        ("ignoruj", "zapomnij"),
        r"\b(?:zignoruj|ignoruj|zapomnij)(?: (?:o|wszystkie|wszystkich|wszelkie))*"
        r" (?:poprzedni|wcześniejsz|powyższ)\w* (?:instrukcj|poleceni|zasad)\w*",
    ),
    Order(
        ("игнорируй", "забудь"),
        r"\b(?:игнорируй|проигнорируй|забудь)(?:те)?(?: (?:все|всё|любые|о|обо|про))*"
        r" (?:предыдущ|прежн|прошл|вышеуказанн)\w+ (?:инструкци|указани|правил|команд)\w*",
    ),
    Order(
        ("с этого момента",),
        r"\bс этого момента ты\b",
    ),
    Order(
        ("talimat", "komut", "yonerge", "kural"),
        r"\b(?:önceki|yukarıdaki) (?:tüm |bütün )?(?:talimat|komut|yönerge|kural)\w*"
        r" (?:yok say|unut|görmezden gel|dikkate alma)",
    ),
    # Chinese, Japanese, Korean, Vietnamese
    Order(
        ("忽", "无视", "忘", "不要理会", "無視"),
        r"(?:忽略|无视|忽视|忘记|忘掉|不要理会|無視|忽視)"
        r"(?:掉|你|之前|此前|以上|上面|先前|前面|所有|全部|一切|的|任何|上述|收到|系统|系統|過|过){1,8}"
        r"(?:指令|指示|提示|规则|規則|命令|要求|说明|說明)",
    ),
    Order(
        ("用户", "用戶", "使用者"),
        r"(?:不要|别|切勿|请勿|請勿)(?:把这|将此|把此)?(?:告诉|告知|透露给|告訴)(?:用户|用戶|使用者)",
    ),
    Order(
        ("从现在",),
        r"从现在(?:开始|起)[,,]? ?(?:你|请)(?:是|就是|将|要|必须|扮演)",
    ),
    Order(
        ("無視", "忘れ"),
        r"(?:これまで|以前|上記|先ほど|前)(?:まで)?の(?:すべての|全ての|全)?"
        r"(?:指示|命令|ルール|プロンプト|指令)(?:を|は)(?:すべて|全て)?(?:無視|忘れ)",
    ),
    Order(
        ("ユーザーに",),
        r"ユーザーに(?:は)?(?:言わ|伝え|知らせ|教え)ないで",
    ),
    Order(
        ("무시", "잊"),
        r"(?:이전|위|앞|지금까지|기존)(?:의)? ?(?:모든 )?"
        r"(?:지시|지침|명령|규칙|프롬프트)(?:사항)?(?:들)?"
        r"(?:을|를|은|는)? ?(?:모두 |전부 )?(?:무시|잊)",
    ),
    Order(
        ("사용자에게",),
        r"사용자에게 ?(?:이것을 |이를 )?(?:말하지|알리지) ?(?:마|말)",
    ),
    Order(
        ("bo qua", "phot lo", "quen"),
        r"\b(?:bỏ qua|phớt lờ|hãy quên|quên)(?: (?:tất cả|mọi|các|hết|những))*"
        r" (?:hướng dẫn|chỉ dẫn|lệnh|chỉ thị|quy tắc)(?: \w+)? (?:trước|ở trên|phía trên)",
    ),
    # Arabic, Hindi
    Order(
        ("تجاهل", "انس"),
        r"(?:تجاهل|انس)(?: (?:جميع|كل|كافة))? (?:التعليمات|الأوامر|القواعد|الإرشادات) (?:السابقة|"
        r"أعلاه)",
    ),
    Order(
        ("अनदेखा", "नज़रअंदाज़", "भूल"),
        r"(?:पिछले|पूर्व|उपरोक्त) (?:सभी )?(?:निर्देशों|आदेशों) को (?:अनदेखा|नज़रअंदाज़|भूल)",
    ),
)
"""One of these is enough."""

WEAK: tuple[Order, ...] = (
    Order(
        ("you are", "you're", "act as", "assume the role"),
        r"\b(?:you are|you're|act as|assume the role of) (?:an? |the )?(?:[\w-]+ ){0,4}"
        r"(?:ai|assistant|chatbot|language model|game master|gm|copilot|bot|storyteller)\b",
    ),
    Order(
        ("your",),
        r"\byour (?:primary |main |core |only |sole )?(?:responsibility|task|goal|role|mission|"
        r"job) is\b",
    ),
    Order(
        ("always",),
        r"\balways (?:respond|answer|reply)(?: \w+)? (?:in|with|as)\b",
    ),
    Order(
        ("response", "reply", "answer"),
        r"\b(?:each|every|all)(?: of your)? (?:response|reply|answer)s? (?:must|should|shall|has"
        r" to)\b",
    ),
    Order(
        ("sei u", "sei i", "sei l"),
        r"\bsei (?:un|una|il|la) (?:\w+ ){0,3}(?:assistente|ia|narratore|modello|chatbot)\b",
    ),
    Order(
        ("il tuo",),
        r"\bil tuo (?:compito|ruolo|obiettivo) è\b",
    ),
    Order(
        ("rispondi",),
        r"\brispondi (?:sempre|solo|soltanto) (?:in|con)\b",
    ),
    Order(
        ("eres",),
        r"\beres (?:un|una|el|la) (?:\w+ ){0,3}(?:asistente|ia|modelo|chatbot|narrador)\b",
    ),
    Order(
        ("du bist",),
        r"\bdu bist (?:ein|eine|der|die) (?:\w+ ){0,3}(?:assistent|ki|spielleiter|chatbot|"
        r"modell)\b",
    ),
    Order(
        ("tu es",),
        r"\btu es (?:un|une|le|la) (?:\w+ ){0,3}(?:assistant|ia|modèle|chatbot|narrateur)\b",
    ),
    Order(
        ("你是",),
        r"你是(?:一位|一个|一名|个)?[^。\n]{0,40}?(?:助手|导师|编辑|专家|主持人|模型|机器人|\bai\b)",
    ),
    Order(
        ("你的",),
        r"你的(?:核心|主要)?(?:任务|职责|目标|角色)是",
    ),
    Order(
        ("回答", "回复"),
        r"(?:始终|总是|必须|只能)(?:使用|用)?(?:中文|英文|英语)?(?:回答|回复)",
    ),
    Order(
        ("每次",),
        r"每次(?:回答|回复)",
    ),
    Order(
        ("あなたは",),
        r"あなたは[^。\n]{0,30}(?:アシスタント|ai|モデル|ゲームマスター)です",
    ),
    Order(
        ("너는", "당신은"),
        r"(?:너는|당신은) [^.\n]{0,30}(?:어시스턴트|비서|ai|모델)",
    ),
)
"""Two different ones are needed: a role is given and the answers are ruled."""

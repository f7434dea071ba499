"""Words of rules in many languages, in lower case; `+`: a space, `*`: any ending."""

FIRM = """
must mustn't never always do+not don't dont only cannot may+not shall shan't should+not
shouldn't
should required requires require mandatory forbidden prohibited not+allowed disallowed avoid
make+sure ensure be+sure under+no+circumstances at+all+costs at+most at+least no+more+than
no+longer+than refrain important remember stick+to have+to has+to off+limits hands+off stay+away
leave+alone untouched non-negotiable keep+out constraint* in+no+case without+exception exactly
insist no-go not+ever strictly by+no+means no+need+to is+to+be are+to+be stays stay
nie niemals immer darf dürfen darfst muss muß musst müssen soll sollen sollst sollte sollten nur
ausschließlich ausschliesslich verboten untersagt pflicht unbedingt zwingend auf+keinen+fall
keinesfalls keineswegs stets achte achtet bitte+nicht bitte+kein* nicht+ohne höchstens
mindestens
erforderlich wichtig vorgeschrieben vermeide* vermeiden unterlass* finger+weg tabu lass+die
erlaubt zulässig
ne+jamais jamais toujours doit doivent dois devez devra devront devrait il+faut faut seulement
uniquement interdit* défense obligatoire* obligatoirement impératif impérativement surtout+pas
éviter évitez évite veillez veille assure-toi assurez-vous au+plus au+moins autorisé*
indispensable proscri* en+aucun+cas sous+aucun+prétexte exclusivement nécessaire
nunca jamás siempre debe deben debes debería deberían hay+que solo sólo solamente únicamente
prohibid* obligatori* imprescindible evita evite evitar asegúrate asegúrese a+lo+sumo
como+máximo
como+mínimo al+menos permitid* bajo+ningún+concepto en+ningún+caso bajo+ninguna+circunstancia
tiene+que tienen+que tienes+que importante necesari* exclusivamente
sempre deve devem deveria deverá só somente apenas proibid* obrigatóri* evitar certifique-se
garanta no+máximo no+mínimo pelo+menos jamais tem+que têm+que é+preciso de+jeito+nenhum
em+hipótese+alguma precis* nem+pense necessári* unicamente
mai sempre deve devono devi dovete dovrebbe bisogna solo soltanto solamente vietat* proibit*
obbligatori* evitare evita evitate assicurati assicuratevi al+massimo almeno occorre
è+necessario
in+nessun+caso per+nessun+motivo esclusivamente consentit* importante
nooit altijd moet moeten mag mogen alleen uitsluitend verboden verplicht vermijd zorg+dat
zorg+ervoor hoogstens minstens minimaal maximaal beslist in+geen+geval onder+geen+beding
niet+toegestaan belangrijk vereist
nigdy zawsze musi muszą musisz trzeba należy wolno tylko wyłącznie zabron* zakaz* obowiązkow*
wymagan* koniecznie unikaj unikać powinien powinna powinno powinny co+najmniej co+najwyżej
pod+żadnym+pozorem w+żadnym+wypadku ważne dopilnuj upewnij
никогда всегда нельзя должен должна должно должны надо нужно только лишь исключительно запрещ*
запрет* обязательн* обязан* необходимо требуется следует избега* убедись убедитесь не+более
не+менее как+минимум ни+в+коем+случае ни+при+каких важно недопустим* разреш* можно+только
ніколи завжди не+можна неможна повин* треба потрібно тільки лише виключно заборон* обов'язков*
обовʼязков* необхідно слід уникай* переконай* не+більше щонайменше в+жодному+разі
ні+в+якому+разі важливо неприпустим* дозвол*
asla hiçbir+zaman her+zaman daima mutlaka sadece yalnızca yalnız gerekli gerekir gerekiyor lazım
dokunma değiştirme kullanma silme ekleme yapma yazma bırakma unutma bozma kaldırma çalıştırma
yasak* zorunlu* şart kesinlikle sakın kaçın* dikkat en+az en+fazla izin+ver* önemli
mereu întotdeauna niciodată trebuie doar numai interzis* obligatoriu evită evitați
vždy nikdy musí musíte musíš smí nesmí nesmíš pouze jenom jen zakáz* povinn* je+nutné je+třeba
vyhni* vyhněte nikdy zakázan* musia smie nesmie vždy iba
mindig soha sosem kell tilos csak kizárólag kötelező szabad kerüld ügyelj legalább legfeljebb
aina koskaan pitää täytyy on+pakko vain ainoastaan kielletty ei+saa älä älkää pakollin* vältä
varmista vähintään enintään
aldrig alltid måste får+inte får+bara ska skall endast bara förbjud* obligatorisk* undvik
se+till minst högst
altid skal må+ikke kun forbudt påkrævet undgå sørg aldri alltid kun bare må+aldri unngå
πάντα ποτέ πρέπει μόνο απαγορεύεται υποχρεωτικ* μην αποφύγετε απόφυγε οπωσδήποτε τουλάχιστον
винаги никога трябва само забранен* задължителн* не+бива избягвай*
uvijek nikada nikad uvek mora moraju smije smeš ne+smije ne+sme samo isključivo zabranjen*
obavezn* izbjegavaj* uvek никада увек мора само забрањен*
sempre mai només únicament prohibit* obligatori* ha+de han+de has+de evita
không+được đừng phải luôn luôn+luôn chỉ cấm bắt+buộc tuyệt+đối không+bao+giờ chớ nhất+định
cần+phải tránh nên ít+nhất tối+đa đảm+bảo quan+trọng hãy
jangan harus selalu hanya dilarang tidak+boleh wajib hindari pastikan tidak+pernah cukup
sebaiknya minimal maksimal jangan+pernah mesti perlu penting mustahil tak+boleh hendaklah
mestilah sentiasa elakkan
huwag palagi lamang kailangan bawal kamwe usiwe lazima marufuku
हमेशा कभी मत चाहिए ज़रूरी जरूरी अनिवार्य केवल सिर्फ़ सिर्फ मना वर्जित निषेध ज़रूर होगा
होना+चाहिए करना+होगा आवश्यक बिल्कुल+नहीं कम+से+कम ज़्यादा+से+ज़्यादा ध्यान+रखें+कि
সবসময় কখনও কখনোই অবশ্যই শুধু শুধুমাত্র নিষিদ্ধ উচিত করবেন+না করো+না
எப்போதும் ஒருபோதும் வேண்டும் மட்டும் மட்டுமே கூடாது தடை கட்டாயம்
నెవర్ ఎప్పుడూ ఎల్లప్పుడూ తప్పనిసరి మాత్రమే కూడదు వద్దు
همیشه هرگز باید نباید فقط ممنوع حتما حتماً لازم مجاز مبادا
ہمیشہ کبھی لازمی صرف ممنوع چاہیے ضروری مت
"""
"""Words and phrases that forbid or require, of scripts with spaces between words."""
SOFT = """
not no without unless until except won't isn't aren't can't doesn't instead need needs prefer
before+you after+you careful keep want wants rule policy please+use
nicht kein keine keinen keinem keiner ohne außer sondern statt bevor möchte bitte lieber
pas sans sauf plutôt avant+de aucun* ni s'il+vous+plaît
no sin salvo excepto ningún ninguna ningun tampoco antes+de en+vez+de
não sem salvo exceto nenhum* nem antes+de em+vez+de
non senza tranne nessun* prima+di invece+di
niet geen zonder behalve liever voordat
nie bez żadn* zanim oprócz zamiast proszę
не нет без кроме ни прежде пожалуйста ні крім жодн*
değil yok olmadan hariç yerine önce lütfen
nu fără ne není nie bez nem nélkül ei ilman inte utan ikke uden uten inga ingen inget δεν χωρίς
não без không chưa thay+vì trừ tidak bukan tanpa kecuali belum hindi wala
नहीं बिना ना सिवाय না নেই இல்லை లేదు نه بدون مگر نہیں بغیر
"""
"""Negations, exceptions and wishes, which may belong to a rule."""
JOINING_FIRM = """
يجب لا+يجوز لا+يجب أبدا أبدًا ابدا دائما دائمًا فقط ممنوع يمنع يُمنع إلزامي محظور ضروري تجنب
تجنّب
ينبغي لا+بد يلزم مطلقا إياك احرص تأكد حصرا على+الأقل على+الأكثر مسموح يحظر مهم لا+تقم اياك
לעולם תמיד חובה אסור חייב חייבת חייבים חייבות רק אך+ורק צריך צריכה יש+ל* להימנע הימנע מותר
בשום+אופן בשום+מקרה וודא ודא לפחות לכל+היותר אין+ל* חשוב מוכרח
"""
"""The same in Arabic and Hebrew, whose particles join the next word."""
JOINING_SOFT = """
لا ليس بدون دون غير إلا لن ما+عدا قبل לא אל בלי ללא אלא מבלי אין
"""
OPENING = (
    r"\W+|\d+[.)]\s|(?:if|when|unless|and|but|so|then|also|however|thus|note that|wenn|und|aber|si|"
    r"et|mais|y|pero)\b"
)
"""May stand before the words by which a sentence points at another."""
POINTING = (
    r"it(?!\W+(?:is|was)\W+(?:\w+\W+)?(?:forbidden|required|important|necessary|mandatory|essential|"
    r"critical|prohibited|not|allowed|permitted|ok|okay|fine|best))|they|them|these|those|"
    r"th(?:is|at)(?=\s+(?:is|was|must|should|may|can|cannot|will|shall|does|has|also|always|never|"
    r"only|means|applies|needs|requires|includes|keeps|ensures|prevents|avoids)\b)|"
    r"the (?:same|former|latter)|exception|otherwise|instead|in (?:that|this) case|"
    r"dies|das(?= (?:darf|muss|muß|soll|gilt|ist)\b)|sonst|ansonsten|andernfalls|"
    r"cela|ceci|ça|sinon|dans ce cas|esto|eso|si no|en ese caso|de lo contrario"
)
"""Words that point at what was said before, at a sentence's beginning."""
POINTING_BACK = (
    r"\b(?:like (?:that|this)|(?:first|second|third|last|other|latter|former) one|(?:the same|this|"
    r"that) way|as (?:above|before)|so|wie (?:oben|zuvor)|comme ça|así)"
)
"""The same at its end."""
SOLID_FIRM = """
必须 必須 一定要 务必 務必 绝不 絕不 绝对 絕對 禁止 不得 不要 不准 不许 不許 不可 不能 严禁 嚴禁
切勿 勿
请勿 請勿 只能 仅限 僅限 只允许 只許 只有 始终 始終 总是 總是 永远 永遠 应该 應該 应当 應當 需要
要求
至少 最多 不允许 不允許 別 别再 别动 别改 不应 不應 千万 千萬 确保 確保 避免 一律 仅 僅 只用
只使用 决不
てはいけ ではいけ てはなら ではなら なければなら なくてはなら ないでくだ べきで べし べきだ
ないこと こと。 てください
常に 必ず 絶対 決して 厳禁 のみ だけを だけに 避け いけません なりません しかない 厳守 しないで
するな
ておくこと ること。 限り 義務 不可 必要があ に限る
반드시 절대 항상 언제나 하지+마 하지마 지+마 지마 로만 으로만 에만 말+것 말아
안+된다 안+됩니다 안돼 안+돼 해야
금지 오직 만+사용
만을 필수 꼭 피하 최소 최대 아야 어야 여야 되도록 만+허용 않도록 마세요 마십시오 말고
ห้าม ต้อง อย่า เสมอ เท่านั้น ทุกครั้ง เด็ดขาด ควร จำเป็น หลีกเลี่ยง
ដាច់ខាត ត្រូវ ហាម កុំ ຫ້າມ ຕ້ອງ မရ ရမည် အမြဲ
"""
"""The same of scripts without spaces, and of Korean, whose endings are part of a word."""
SOLID_SOFT = """
不 没 沒 无 無 非 未 别 ない ません ずに なし なく 않 없 아니 말 못 ไม่ โดยไม่ อย่าง
"""
HEADINGS = """
rule* constraint* requirement* guideline* convention* don'ts policy policies
regel* vorgabe* bedingung* einschränkung* anforderung* richtlinie* règle* contrainte* exigence*
consigne* regla* restriccion* restricciones requisito* normas norme regra* restriç* regole vincoli
requisiti regels eisen voorwaarden zasad* regulamin wymagania ograniczenia правил* требован*
ограничен* вимог* обмежен* kural* kısıt* gereksinim* aturan ketentuan quy+tắc yêu+cầu नियम
शर्तें
قواعد القواعد القيود כללים כללי
"""
"""What stands over a list of rules."""
SOLID_HEADINGS = """
规则 規則 要求 约束 約束 规范 注意事項 注意事项 ルール 制約 要件 規約 규칙 제약 요구사항
"""
FIRM_BEGINNING = (
    r"\W*(?:no|not|nada\s+de|pas\s+de|kein\w*|bez|geen|niente|nessun\w*|nenhum\w*|ningun\w*|без"
    r"|keep|leave|use\s+only|não|nie|niet|non|ne|не|ні)\s"
)
"""A regular expression of what a sentence begins with: a negation, or what is to stay."""
FIRM_WITH_ZU = r"\b(?:sind|ist|haben|hat)\s.*\szu\s\w+n\W*$"
"""German: what is to be done."""
FIRM_SHAPES = (
    r"(?<!\w)[وف]?لا\s+ت\w+",
    r"(?<!\w)ו?אל\s+ת\w+",
    r"[\u26a0\u26d4\u2757\u2755\u203c\U0001f6ab\U0001f6d1\u274c\u2705\u2714\U0001f4cc]",
)
"""Arabic and Hebrew: what not to do; signs that warn. None is ASCII."""
FIRM_ENDINGS = ("mayın", "meyin", "malı", "meli", "malısın", "melisin", "malıdır", "melidir")
"""Turkish verbs: what must not, or must, be done."""
JOINED = "وفبלوהשכ"
"""Letters that Arabic and Hebrew write together with the next word."""
NO_PROSE = (
    r"[ \t]*\d+(?:→|[ \t]*│|[ \t]?\|).*|[ \t]+\d+\t.*",
    r"[^\w\n]{0,4}(?:\d{4}-\d\d-\d\d[T ]\d|\d\d:\d\d:\d\d).*",
    r"[^\w\n]{0,4}\[(?:INFO|WARN\w*|ERROR|DEBUG|TRACE)\b.*",
    r"[ \t]*(?:[⏺⎿●❯│├└✻✢]|>>> |\$ |at \S+ ?\(|File \"|(?:Human|Assistant|AI|Claude|ChatGPT): ).*",
    r"[ \t]*(?://|#(?:include|define|if|ifdef|endif|pragma)\b).*",
    r"[ \t]*</?(?!(?i:important|rules?|instructions?|constraints?|warning|note)\b)\w.*",
    r"[ \t]*[\w.\[\]'\"]+ (?:[-+:|]?=|=>) (?!\S+ [a-z]+ [a-z]+\b)\S.*(?<!\.)",
    r"[ \t]*[\w.]+\([^)\n]*\)[;,]?[ \t]*",
    r"[ \t]*(?:def \w+\(|class \w+[(:]|from [\w.]+ import ).*",
    r"[ \t]*import (?:[\w.]+(?: as \w+)?|[\w{*].* from ['\"].*);?",
    r"[ \t]*(?:const|let|var|function|export|async|public|private|static|fn|func|pub)\s+[\w{*(<]+"
    r".*[=({;,]",
    r".*[{}][ \t]*|(?=.*[()=<>\[\]{}]).*;[ \t]*(?://.*|/\*.*)?|.*[;,{}()\]][ \t]*//[ \t].*",
)
"""Regular expressions of whole lines that hold no rules: with numbers in a margin, of logs, of
transcripts, of code."""

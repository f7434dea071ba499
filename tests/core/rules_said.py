"""What people say in their languages, written without a look at the words that are searched for.

`RULES` forbid or require something, `PLAIN` do neither.
"""

RULES: dict[str, tuple[str, ...]] = {
    "English": (
        "The vendored folder is off limits.",
        "Under no circumstances may the migration drop a column.",
        "Every public function has to carry a docstring.",
        "Leave the lockfile exactly as it is.",
        "Please don't introduce another dependency for this.",
    ),
    "German": (
        "Die Datei generated.py darf auf keinen Fall angefasst werden.",
        "Alle Zeitangaben sind in UTC zu speichern.",
        "Verwende ausschließlich die vorhandene Verbindung.",
        "Bitte keine neuen Abhängigkeiten.",
        "Der alte Einstiegspunkt muss weiter funktionieren.",
    ),
    "French": (
        "Il ne faut surtout pas toucher au schéma de la base.",
        "Chaque fonction publique doit avoir un test.",
        "On garde la compatibilité avec Python 3.9, c'est obligatoire.",
        "N'ajoute aucune dépendance.",
        "Les dates se notent uniquement en UTC.",
    ),
    "Spanish": (
        "Bajo ningún concepto cambies el esquema.",
        "Hay que conservar la interfaz antigua.",
        "No añadas dependencias nuevas.",
        "Todas las pruebas deben pasar antes de entregar.",
        "Queda prohibido escribir fuera de la carpeta de datos.",
    ),
    "Portuguese": (
        "Não mexa no arquivo gerado.",
        "É obrigatório manter a interface antiga.",
        "Só use a biblioteca padrão.",
        "Em hipótese alguma apague os registros.",
        "Todas as funções precisam de testes.",
    ),
    "Italian": (
        "Non modificare mai lo schema del database.",
        "Bisogna mantenere la vecchia interfaccia.",
        "È vietato aggiungere dipendenze.",
        "Usa solo la libreria standard.",
        "Le date vanno salvate sempre in UTC.",
    ),
    "Dutch": (
        "Raak het gegenereerde bestand niet aan.",
        "Elke publieke functie moet een test hebben.",
        "Gebruik alleen de standaardbibliotheek.",
        "In geen geval mag de database worden gewist.",
        "Voeg geen nieuwe afhankelijkheden toe.",
    ),
    "Polish": (
        "Nie wolno zmieniać wygenerowanych plików.",
        "Każda funkcja musi mieć test.",
        "Używaj wyłącznie biblioteki standardowej.",
        "Pod żadnym pozorem nie kasuj danych.",
        "Daty należy zapisywać w UTC.",
    ),
    "Russian": (
        "Файл generated.py трогать нельзя.",
        "Все даты должны храниться в UTC.",
        "Не добавляй новых зависимостей.",
        "Ни в коем случае не удаляй таблицы.",
        "Старый интерфейс обязательно оставь.",
    ),
    "Ukrainian": (
        "Не змінюй згенеровані файли.",
        "Усі дати мають зберігатися тільки в UTC.",
        "Заборонено додавати нові залежності.",
        "Кожна функція повинна мати тест.",
    ),
    "Turkish": (
        "Üretilen dosyalara asla dokunma.",
        "Her fonksiyonun bir testi olmalı.",
        "Yeni bağımlılık eklemek yasak.",
        "Tarihler yalnızca UTC olarak saklanmalıdır.",
        "Eski arayüzü bozmayın.",
    ),
    "Arabic": (
        "لا تغير الملفات المولدة أبدا.",
        "يجب أن يكون لكل دالة اختبار.",
        "ممنوع إضافة مكتبات جديدة.",
        "استخدم المكتبة القياسية فقط.",
        "تُحفظ التواريخ دائمًا بالتوقيت العالمي.",
    ),
    "Hebrew": (
        "אסור לשנות את הקבצים שנוצרו.",
        "לכל פונקציה חייבת להיות בדיקה.",
        "אל תוסיף תלויות חדשות.",
        "השתמש רק בספרייה הסטנדרטית.",
        "תמיד לשמור תאריכים ב-UTC.",
    ),
    "Hindi": (
        "बनी हुई फ़ाइलों को कभी मत बदलो।",
        "हर फ़ंक्शन का परीक्षण होना चाहिए।",
        "नई निर्भरता जोड़ना मना है।",
        "तारीखें केवल UTC में रखें।",
        "पुराना इंटरफ़ेस हटाना नहीं है।",
    ),
    "Chinese": (
        "生成的文件不要改动。",
        "每个函数都必须有测试。",
        "禁止引入新的依赖。",
        "日期一律用 UTC 保存。",
        "旧接口得保留，别删。",
    ),
    "Japanese": (
        "生成されたファイルには触らないでください。",
        "すべての関数にテストを書くこと。",
        "新しい依存関係の追加は禁止です。",
        "日付は必ず UTC で保存する。",
        "古いインターフェースを削除してはいけません。",
    ),
    "Korean": (
        "생성된 파일은 절대 수정하지 마세요.",
        "모든 함수에는 테스트가 있어야 합니다.",
        "새로운 의존성 추가는 금지입니다.",
        "날짜는 UTC로만 저장하세요.",
        "기존 인터페이스는 반드시 유지해 주세요.",
    ),
    "Vietnamese": (
        "Đừng bao giờ sửa tệp được sinh ra.",
        "Mỗi hàm phải có một bài kiểm thử.",
        "Cấm thêm thư viện mới.",
        "Chỉ dùng thư viện chuẩn.",
    ),
    "Indonesian": (
        "Jangan ubah berkas yang dihasilkan.",
        "Setiap fungsi harus punya tes.",
        "Dilarang menambah dependensi baru.",
        "Gunakan hanya pustaka standar.",
    ),
    "Swedish": (
        "Rör aldrig de genererade filerna.",
        "Varje funktion måste ha ett test.",
        "Lägg inte till nya beroenden.",
    ),
    "Czech": (
        "Nikdy neměň vygenerované soubory.",
        "Každá funkce musí mít test.",
        "Používej pouze standardní knihovnu.",
    ),
    "Greek": (
        "Μην αλλάξεις ποτέ τα παραγόμενα αρχεία.",
        "Κάθε συνάρτηση πρέπει να έχει τεστ.",
        "Χρησιμοποίησε μόνο την τυπική βιβλιοθήκη.",
    ),
    "Persian": (
        "هرگز فایل‌های تولیدشده را تغییر نده.",
        "هر تابع باید آزمون داشته باشد.",
        "فقط از کتابخانهٔ استاندارد استفاده کن.",
    ),
    "Thai": (
        "ห้ามแก้ไขไฟล์ที่ถูกสร้างขึ้น",
        "ทุกฟังก์ชันต้องมีการทดสอบ",
        "ใช้ไลบรารีมาตรฐานเท่านั้น",
    ),
}

PLAIN: dict[str, tuple[str, ...]] = {
    "English": (
        "The parser reads one line after the other.",
        "We started with the importer last week, and it went well.",
        "The log shows three requests from the same host.",
        "My colleague wrote this part in the spring.",
    ),
    "German": (
        "Der Parser liest eine Zeile nach der anderen.",
        "Wir haben letzte Woche mit dem Import begonnen.",
        "Das Protokoll zeigt drei Anfragen vom selben Rechner.",
    ),
    "French": (
        "L'analyseur lit une ligne après l'autre.",
        "Nous avons commencé par l'import la semaine dernière.",
        "Le journal montre trois requêtes de la même machine.",
    ),
    "Spanish": (
        "El analizador lee una línea tras otra.",
        "Empezamos con la importación la semana pasada.",
        "El registro muestra tres peticiones del mismo equipo.",
    ),
    "Portuguese": (
        "O analisador lê uma linha depois da outra.",
        "Começamos pela importação na semana passada.",
    ),
    "Italian": (
        "Il parser legge una riga dopo l'altra.",
        "Abbiamo iniziato dall'importazione la settimana scorsa.",
    ),
    "Dutch": (
        "De parser leest de ene regel na de andere.",
        "Vorige week zijn we met de import begonnen.",
    ),
    "Polish": (
        "Parser czyta jedną linię po drugiej.",
        "W zeszłym tygodniu zaczęliśmy od importu.",
    ),
    "Russian": (
        "Парсер читает одну строку за другой.",
        "На прошлой неделе мы начали с импорта.",
        "В журнале видны три запроса с одной машины.",
    ),
    "Ukrainian": ("Парсер читає рядок за рядком.", "Минулого тижня ми почали з імпорту."),
    "Turkish": (
        "Ayrıştırıcı satırları tek tek okur.",
        "Geçen hafta içe aktarma ile başladık.",
    ),
    "Arabic": ("يقرأ المحلل سطرا بعد سطر.", "بدأنا الأسبوع الماضي بالاستيراد."),
    "Hebrew": ("המנתח קורא שורה אחר שורה.", "בשבוע שעבר התחלנו עם הייבוא."),
    "Hindi": ("पार्सर एक के बाद एक पंक्ति पढ़ता है।", "पिछले हफ़्ते हमने आयात से शुरुआत की।"),
    "Chinese": (
        "解析器一行一行地读取文件。",
        "我们上周从导入开始做。",
        "日志里有三个请求来自同一台机器。",
    ),
    "Japanese": ("パーサーは一行ずつ読み込みます。", "先週はインポートから始めました。"),
    "Korean": ("파서는 한 줄씩 읽습니다.", "지난주에 가져오기부터 시작했습니다."),
    "Vietnamese": ("Bộ phân tích đọc từng dòng một.", "Tuần trước chúng tôi bắt đầu từ phần nhập."),
    "Indonesian": ("Pengurai membaca baris demi baris.", "Minggu lalu kami mulai dari impor."),
    "Swedish": ("Tolken läser en rad i taget.", "Vi började med importen förra veckan."),
    "Czech": ("Parser čte jeden řádek za druhým.", "Minulý týden jsme začali importem."),
    "Greek": ("Ο αναλυτής διαβάζει μια γραμμή κάθε φορά.",),
    "Persian": ("تجزیه‌گر خط به خط می‌خواند.",),
    "Thai": ("ตัวแยกวิเคราะห์อ่านทีละบรรทัด",),
}

package sys

// koreanAttach are the sentences about what people attach.
func koreanAttach() [][2]string {
	return [][2]string{
		// Attaching.
		{"%d files are on their way already. %s was not attached.", "파일 %d개를 이미 올리는 중입니다. %s을(를) 첨부하지 않았습니다."},
		{"Wait for them, and attach it again.", "끝나기를 기다려 다시 첨부하세요."},
		{"%s cannot be opened: %w. It was not attached.", "%s을(를) 열 수 없습니다: %w. 첨부하지 않았습니다."},
		{"There is no %s. Nothing was attached.", "%s이(가) 없습니다. 아무것도 첨부하지 않았습니다."},
		{"%s cannot be read, because a part of Oxios is missing. It was not attached.", "Oxios의 일부가 없어 %s을(를) 읽을 수 없습니다. 첨부하지 않았습니다."},
		{"The program `oxios` must lie beside `oxios-desktop`: reinstall Oxios.", "`oxios` 프로그램이 `oxios-desktop` 옆에 있어야 합니다. Oxios를 다시 설치하세요."},
		{"%s could not be read within %s. It was not attached.", "%s을(를) %s 안에 읽지 못했습니다. 첨부하지 않았습니다."},
		{"Attach a part of it, or save it again with another program.", "일부만 첨부하거나, 다른 프로그램으로 다시 저장하세요."},
		{"%s takes more than %s of memory to be read. It was not attached.", "%s을(를) 읽으려면 메모리가 %s 넘게 듭니다. 첨부하지 않았습니다."},
		{"%s has %s; %s is the most that can be attached. It was not attached.", "%s의 크기는 %s입니다. %s까지 첨부할 수 있습니다. 첨부하지 않았습니다."},
		{"Put it into the folder and name it in your message: the agent reads what it needs.", "폴더에 넣고 메시지에 이름을 적으세요. 에이전트가 필요한 부분을 읽습니다."},
		{"Put it into the folder and name it in your message: the agent uses programs that know it.", "폴더에 넣고 메시지에 이름을 적으세요. 에이전트가 그 형식을 아는 프로그램을 씁니다."},
		{"%s has more than %s of text. It was not attached.", "%s에 %s가 넘는 글이 있습니다. 첨부하지 않았습니다."},
		{"%s is %s. It was not attached.", "%s은(는) %s입니다. 첨부하지 않았습니다."},
		{"%s is empty. It was not attached.", "%s은(는) 비어 있습니다. 첨부하지 않았습니다."},
		{"%s is not an absolute path. Nothing was attached.", "%s은(는) 절대 경로가 아닙니다. 아무것도 첨부하지 않았습니다."},
		{"%s was not attached: agents never read it, because that %s.", "%s을(를) 첨부하지 않았습니다. 에이전트가 절대 읽지 않는 곳입니다: %s."},
		{"Copy what is needed into the message yourself.", "필요한 내용은 직접 메시지에 옮겨 적으세요."},
		{"A part of %s did not fit to what came before. It was not attached.", "%s의 조각이 앞부분과 맞지 않습니다. 첨부하지 않았습니다."},
		{"An attachment is a path, a note, a text, a file of a size or a resource: one of them.", "첨부는 경로, 노트, 글, 크기가 있는 파일, 리소스 가운데 하나입니다."},
		{"A resource has a server and a URI. Nothing was attached.", "리소스에는 서버와 URI가 있어야 합니다. 아무것도 첨부하지 않았습니다."},
		{"The attachment %q is not there any more.", "%q 첨부가 더 이상 없습니다."},
		{"Nothing was sent, and your text is kept.", "아무것도 보내지 않았고, 쓴 글은 남아 있습니다."},
		{"%s was not read yet: it is read when the message is sent.", "%s 리소스는 아직 읽지 않았습니다. 메시지를 보낼 때 읽습니다."},
		{"The note %s has %s; %s is the most that goes with a message. Nothing was attached.", "%s 노트가 %s입니다. 메시지에는 %s까지 붙일 수 있습니다. 아무것도 첨부하지 않았습니다."},
		{"Name it in your message: the agent reads the parts that it needs.", "메시지에 이름을 적으세요. 에이전트가 필요한 부분을 읽습니다."},
		{"The pasted text has %s; %s is the most that goes with a message. Nothing was attached.", "붙여 넣은 글이 %s입니다. 메시지에는 %s까지 붙일 수 있습니다. 아무것도 첨부하지 않았습니다."},
		{"Save it as a file, and attach that: the agent reads the parts that it needs.", "파일로 저장해 첨부하세요. 에이전트가 필요한 부분을 읽습니다."},
		{"The disk is full. Nothing was attached.", "디스크가 가득 찼습니다. 아무것도 첨부하지 않았습니다."},
		{"Attach it again.", "다시 첨부하세요."},
		{"This attachment is not there any more.", "이 첨부는 더 이상 없습니다."},
		{"The content of %s is not there any more.", "%s의 내용이 더 이상 없습니다."},
		{"A message was sent with it, so it stays with that conversation.", "이미 메시지와 함께 보냈으므로 그 대화에 남습니다."},
		{"Of %s only the place is attached: %s.", "%s은(는) 위치만 첨부했습니다: %s."},
		{"It is too large to be sent: the agent learns where it lies, and reads the parts that it needs.", "보내기에는 너무 큽니다. 에이전트에게 위치만 알리고, 에이전트가 필요한 부분을 읽습니다."},
		{"It is too long to be sent: the agent learns where it lies, and reads the parts that it needs.", "보내기에는 너무 깁니다. 에이전트에게 위치만 알리고, 에이전트가 필요한 부분을 읽습니다."},
		{"Models do not read it as it is: the agent learns where it lies.", "모델이 그대로는 읽지 못합니다. 에이전트에게 위치만 알립니다."},

		// Sending.
		{"An attachment is not there any more. Nothing was sent, and your text is kept.", "첨부 하나가 더 이상 없습니다. 아무것도 보내지 않았고, 쓴 글은 남아 있습니다."},
		{"Remove it, and attach it again.", "그 첨부를 빼고 다시 첨부하세요."},
		{"The message has %d attachments; %d are the most. Nothing was sent.", "메시지에 첨부가 %d개 있습니다. %d개까지 보낼 수 있습니다. 아무것도 보내지 않았습니다."},
		{"Put the files into a folder, and attach the folder.", "파일을 한 폴더에 넣고 그 폴더를 첨부하세요."},
		{"The pictures have %s together; %s is the most for one message. Nothing was sent, and your text is kept.", "그림이 모두 합해 %s입니다. 메시지 하나에 %s까지 보낼 수 있습니다. 아무것도 보내지 않았고, 쓴 글은 남아 있습니다."},
		{"Send them in several messages.", "여러 메시지로 나누어 보내세요."},
		{"%s is a picture, and %s does not see pictures. Nothing was sent, and your text is kept.", "%s은(는) 그림인데 %s은(는) 그림을 보지 못합니다. 아무것도 보내지 않았고, 쓴 글은 남아 있습니다."},
		{"Choose a model that sees, as %s, or remove the picture.", "그림을 보는 모델(%s)을 고르거나 그림을 빼세요."},
		{"Add a model that sees in Settings, Models, or remove the picture.", "설정의 모델에서 그림을 보는 모델을 더하거나 그림을 빼세요."},

		// What a file is.
		{"a HEIC or AVIF picture", "HEIC 또는 AVIF 사진"},
		{"Save it as JPEG or PNG, and attach that.", "JPEG나 PNG로 저장해 그 파일을 첨부하세요."},
		{"an Office file of the old kind, or one with a password", "옛 형식이거나 암호가 걸린 오피스 파일"},
		{"Save it as .docx without a password, or as PDF, and attach that.", "암호 없는 .docx나 PDF로 저장해 그 파일을 첨부하세요."},
		{"an archive or an Office file that is not read here", "압축 파일이거나 여기서 읽지 않는 오피스 파일"},
		{"a video or a sound", "동영상 또는 소리"},
		{"a picture of a kind that models do not take", "모델이 받지 않는 형식의 그림"},
		{"a file that models cannot read", "모델이 읽을 수 없는 파일"},

		// Pictures.
		{"%s is a picture of %d × %d pixels; %d million pixels are the most. It was not attached.", "%s은(는) %d × %d 픽셀 그림입니다. %d백만 픽셀까지만 첨부할 수 있습니다. 첨부하지 않았습니다."},
		{"Make it smaller, and attach that.", "더 작게 만들어 그 파일을 첨부하세요."},
		{"%s cannot be read as a picture: it is damaged, cut off, or a moving one. It was not attached.", "%s을(를) 그림으로 읽을 수 없습니다. 손상되었거나 잘렸거나 움직이는 그림입니다. 첨부하지 않았습니다."},
		{"Open it in another program, save it as PNG or JPEG, and attach that.", "다른 프로그램에서 열어 PNG나 JPEG로 저장한 뒤 그 파일을 첨부하세요."},

		// PDF.
		{"%s is locked with a password. It was not attached.", "%s에 암호가 걸려 있습니다. 첨부하지 않았습니다."},
		{"Save a copy without the password, and attach that.", "암호 없는 사본을 저장해 그 파일을 첨부하세요."},
		{"%s cannot be read as a PDF: it is damaged or cut off. It was not attached.", "%s을(를) PDF로 읽을 수 없습니다. 손상되었거나 잘렸습니다. 첨부하지 않았습니다."},
		{"Open it in a viewer, print it into a new PDF, and attach that.", "보기 프로그램에서 열어 새 PDF로 인쇄한 뒤 그 파일을 첨부하세요."},
		{"%s holds no text: its pages are pictures, as a scanner makes them. It was not attached.", "%s에는 글자가 없습니다. 쪽이 스캔한 그림으로 되어 있습니다. 첨부하지 않았습니다."},
		{"Attach pictures of the pages that matter, and choose a model that sees.", "필요한 쪽을 그림으로 첨부하고, 그림을 보는 모델을 고르세요."},
		{"The first page of %s has more text than a model takes. It was not attached.", "%s의 첫 쪽에 모델이 받을 수 있는 것보다 많은 글이 있습니다. 첨부하지 않았습니다."},
		{"Attach a part of it.", "일부만 첨부하세요."},
		{"Only pages 1 to %d of %d are attached: the rest is too long.", "전체 %[2]d쪽 중 1–%[1]d쪽만 첨부했습니다. 나머지는 너무 깁니다."},

		// Word.
		{"%s unpacks to more than %d MB. It was not attached.", "%s은(는) 풀면 %d MB가 넘습니다. 첨부하지 않았습니다."},
		{"Save its text as a new document, and attach that.", "글만 새 문서로 저장해 그 파일을 첨부하세요."},
		{"%s holds no text. It was not attached.", "%s에는 글자가 없습니다. 첨부하지 않았습니다."},
		{"If it holds pictures, attach them by themselves.", "그림이 들어 있다면 그림만 따로 첨부하세요."},
		{"%s cannot be read as a Word document: it is damaged or cut off. It was not attached.", "%s을(를) 워드 문서로 읽을 수 없습니다. 손상되었거나 잘렸습니다. 첨부하지 않았습니다."},
		{"Open it in Word or LibreOffice, save it again, and attach that.", "워드나 리브레오피스에서 열어 다시 저장한 뒤 그 파일을 첨부하세요."},
		{"Only the beginning is attached: the rest is too long.", "앞부분만 첨부했습니다. 나머지는 너무 깁니다."},
		{"It has no pages of its own: its places are named by section.", "쪽 번호가 없는 문서라 위치를 절 번호로 나타냅니다."},
		{"It has no pages of its own: its places are named by paragraph.", "쪽 번호가 없는 문서라 위치를 문단 번호로 나타냅니다."},

		// The reader.
		{"%s could not be read: it ended the program that reads it. It was not attached.", "%s을(를) 읽지 못했습니다. 읽는 프로그램이 멈추었습니다. 첨부하지 않았습니다."},
		{"Save it again with another program, and attach that.", "다른 프로그램으로 다시 저장해 그 파일을 첨부하세요."},
		{"%s cannot be read: it is damaged. It was not attached.", "%s을(를) 읽을 수 없습니다. 손상되었습니다. 첨부하지 않았습니다."},
	}
}

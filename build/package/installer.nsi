; The installer for Windows, made on Linux by windows.sh. Nobody has run it yet, and it says so before it does anything.
;   makensis -DVERSION=... -DPROGRAMS=folder -DICON=file -DLICENCES=file -DOUT=file installer.nsi
; It installs for one person and needs no administrator.
Unicode true
SetCompressor /SOLID lzma
RequestExecutionLevel user
ManifestDPIAware true
Name "Oxios"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\Oxios"
InstallDirRegKey HKCU "Software\Oxios" "folder"

!include "LogicLib.nsh"
!include "MUI2.nsh"
!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Oxios"
!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_WELCOMEPAGE_TITLE "Oxios ${VERSION}"
!define MUI_WELCOMEPAGE_TEXT "$(UNTESTED)"
!insertmacro MUI_PAGE_WELCOME
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "Korean"

LangString UNTESTED ${LANG_ENGLISH} "This installer was built on Linux, and has not been tested on Windows.$\r$\n$\r$\nOn Windows, Oxios cannot contain the commands of agents: every command asks first.$\r$\n$\r$\nThe window needs the WebView2 Runtime, which Windows 11 brings; Oxios offers to load it where it is missing."
LangString UNTESTED ${LANG_KOREAN} "이 설치 프로그램은 Linux에서 만들었으며, Windows에서 시험하지 않았습니다.$\r$\n$\r$\nWindows에서는 에이전트의 명령을 격리하지 못하므로, 모든 명령이 먼저 묻습니다.$\r$\n$\r$\n창에는 WebView2 런타임이 필요합니다. Windows 11에는 들어 있으며, 없으면 Oxios가 내려받을지 묻습니다."
LangString RUNNING ${LANG_ENGLISH} "Oxios is running. Quit it in its tray icon, then try again."
LangString RUNNING ${LANG_KOREAN} "Oxios가 실행 중입니다. 트레이 아이콘에서 종료한 뒤 다시 시도해 주세요."
LangString KEPT ${LANG_ENGLISH} "Oxios is removed. Your data stays in $PROFILE\.oxios: delete that folder to be rid of it."
LangString KEPT ${LANG_KOREAN} "Oxios를 제거했습니다. 데이터는 $PROFILE\.oxios 폴더에 남아 있습니다. 지우려면 그 폴더를 삭제하세요."

VIProductVersion "${NUMBERS}"
VIAddVersionKey /LANG=0 "ProductName" "Oxios"
VIAddVersionKey /LANG=0 "ProductVersion" "${VERSION}"
VIAddVersionKey /LANG=0 "FileVersion" "${VERSION}"
VIAddVersionKey /LANG=0 "FileDescription" "Oxios installer (not tested on Windows)"
VIAddVersionKey /LANG=0 "LegalCopyright" "2026 Oxios authors"

; A program that runs cannot be written over: opening it for writing tells.
!macro refuseWhileRunning program
	${If} ${FileExists} "$INSTDIR\${program}"
		ClearErrors
		FileOpen $0 "$INSTDIR\${program}" a
		${If} ${Errors}
			MessageBox MB_OK|MB_ICONEXCLAMATION "$(RUNNING)" /SD IDOK
			Abort
		${EndIf}
		FileClose $0
	${EndIf}
!macroend

Section
	!insertmacro refuseWhileRunning oxios.exe
	!insertmacro refuseWhileRunning oxios-desktop.exe
	SetOutPath "$INSTDIR"
	File "${PROGRAMS}\oxios.exe"
	File "${PROGRAMS}\oxios-desktop.exe"
	File "/oname=third-party.txt" "${LICENCES}"
	WriteUninstaller "$INSTDIR\uninstall.exe"
	CreateShortcut "$SMPROGRAMS\Oxios.lnk" "$INSTDIR\oxios-desktop.exe"

	WriteRegStr HKCU "Software\Oxios" "folder" "$INSTDIR"
	WriteRegStr HKCU "Software\Classes\oxios" "" "URL:Oxios"
	WriteRegStr HKCU "Software\Classes\oxios" "URL Protocol" ""
	WriteRegStr HKCU "Software\Classes\oxios\DefaultIcon" "" "$INSTDIR\oxios-desktop.exe,0"
	WriteRegStr HKCU "Software\Classes\oxios\shell\open\command" "" '"$INSTDIR\oxios-desktop.exe" "%1"'

	WriteRegStr HKCU "${KEY}" "DisplayName" "Oxios"
	WriteRegStr HKCU "${KEY}" "DisplayVersion" "${VERSION}"
	WriteRegStr HKCU "${KEY}" "DisplayIcon" "$INSTDIR\oxios-desktop.exe"
	WriteRegStr HKCU "${KEY}" "Publisher" "Oxios authors"
	WriteRegStr HKCU "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
	WriteRegDWORD HKCU "${KEY}" "NoModify" 1
	WriteRegDWORD HKCU "${KEY}" "NoRepair" 1
SectionEnd

Section "Uninstall"
	!insertmacro refuseWhileRunning oxios.exe
	!insertmacro refuseWhileRunning oxios-desktop.exe
	Delete "$INSTDIR\oxios.exe"
	Delete "$INSTDIR\oxios-desktop.exe"
	Delete "$INSTDIR\third-party.txt"
	Delete "$INSTDIR\uninstall.exe"
	RMDir "$INSTDIR"
	Delete "$SMPROGRAMS\Oxios.lnk"
	DeleteRegKey HKCU "Software\Classes\oxios"
	DeleteRegKey HKCU "Software\Oxios"
	DeleteRegKey HKCU "${KEY}"
	DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\Run" "Oxios"
	MessageBox MB_OK "$(KEPT)" /SD IDOK
SectionEnd

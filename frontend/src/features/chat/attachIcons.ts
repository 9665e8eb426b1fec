import FileIcon from '@lucide/svelte/icons/file';
import FileText from '@lucide/svelte/icons/file-text';
import FolderIcon from '@lucide/svelte/icons/folder';
import ImageIcon from '@lucide/svelte/icons/image';
import TextIcon from '@lucide/svelte/icons/text-align-start';
import Plug from '@lucide/svelte/icons/plug';
import type { AttachmentKind } from '../../kernel/api.gen';

/** The icon of each kind of attachment. */
export const icons: Record<AttachmentKind, typeof FileIcon> = {
	image: ImageIcon,
	pdf: FileText,
	docx: FileText,
	text: FileText,
	paste: TextIcon,
	folder: FolderIcon,
	file: FileIcon,
	resource: Plug,
	prompt: Plug,
};

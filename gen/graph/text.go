package graph

// Widths of the printable ASCII characters, from the space on, in hundredths of the font size. They are those of DejaVu
// Sans Bold, one of the widest fonts that a browser may choose, so that text fits with every other font too.
var widths = [...]int{
	35, 46, 53, 84, 70, 101, 88, 31, 46, 46, 53, 84, 38, 42, 38, 37, 70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 40, 40, 84,
	84, 84, 59, 100, 78, 77, 74, 84, 69, 69, 83, 84, 38, 38, 78, 64, 100, 84, 86, 74, 86, 78, 73, 69, 82, 78, 111, 78, 73,
	73, 46, 37, 46, 84, 50, 50, 68, 72, 60, 72, 68, 44, 72, 72, 35, 35, 67, 35, 105, 72, 69, 72, 72, 50, 60, 48, 72, 66,
	93, 65, 66, 59, 72, 37, 72, 84,
}

// widest is the width of other characters, for example of Chinese ones.
const widest = 111

// textWidth returns an upper bound for the width of a text in pixels.
func textWidth(text string, size int) int {
	sum := 0
	for _, r := range text {
		if i := int(r) - ' '; i >= 0 && i < len(widths) {
			sum += widths[i]
		} else {
			sum += widest
		}
	}
	return (sum*size + 99) / 100
}

// fit shortens a text to a width in pixels. A shortened text ends with an ellipsis.
func fit(text string, size, width int) string {
	if textWidth(text, size) <= width {
		return text
	}
	runes := []rune(text)
	for len(runes) > 0 && textWidth(string(runes)+"…", size) > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

package tiktoken

import (
	"bytes"
	"image"
	_ "image/gif"  // for the size of images
	_ "image/jpeg" // for the size of images
	_ "image/png"  // for the size of images
	"math"
)

// Tokens of an image of unknown size, for example one given by a URL. It is that of a portrait page.
const unknownImage = 1105

// imageTokens estimates the tokens of an image.
func imageTokens(data []byte) int {
	size, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || size.Width <= 0 || size.Height <= 0 {
		return unknownImage
	}
	width, height := float64(size.Width), float64(size.Height)
	if scale := 2048 / max(width, height); scale < 1 {
		width, height = width*scale, height*scale
	}
	if scale := 768 / min(width, height); scale < 1 {
		width, height = width*scale, height*scale
	}
	tiles := math.Ceil(width/512) * math.Ceil(height/512)
	return 85 + 170*int(tiles)
}

/** Width and height of a logo. The server takes no other. */
const side = 128
const bytesMax = 5 * 1024 * 1024
const types = ['image/png', 'image/jpeg', 'image/webp']

/** What a file dialog offers. */
export const logoTypes = types.join(',')

/**
 * An image file as a PNG of 128 × 128 pixels in base64, scaled to fit, on transparent ground. The browser decodes it, so the server needs no
 * decoder of JPEG and WebP. Throws an Error with a sentence for the person.
 */
export async function logoOf(file: File): Promise<string> {
  if (!types.includes(file.type)) throw new Error('The logo must be a PNG, JPEG or WebP file. Choose another file.')
  if (file.size > bytesMax) throw new Error('The file has more than 5 MB. Choose a smaller one.')
  const image = await createImageBitmap(file).catch(() => {
    throw new Error('The file cannot be read as an image. Choose another file.')
  })
  const canvas = document.createElement('canvas')
  canvas.width = side
  canvas.height = side
  const scale = Math.min(side / image.width, side / image.height)
  const [width, height] = [image.width * scale, image.height * scale]
  const context = canvas.getContext('2d')
  if (!context) throw new Error('This browser cannot scale images. Use another browser.')
  context.imageSmoothingQuality = 'high'
  context.drawImage(image, (side - width) / 2, (side - height) / 2, width, height)
  image.close()
  return canvas.toDataURL('image/png').replace('data:image/png;base64,', '')
}

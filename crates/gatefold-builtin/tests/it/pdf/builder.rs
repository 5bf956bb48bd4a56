//! Small documents, written out.

use std::fmt::Write as _;

/// The catalog, the tree of pages, a plain font and a form have the first numbers.
#[derive(Clone)]
pub(super) struct PdfBuilder {
    objects: Vec<Vec<u8>>,
    pages: Vec<usize>,
    fonts: String,
    trailer: String,
}

const CATALOG: usize = 1;
const TREE: usize = 2;

impl PdfBuilder {
    pub(super) fn new() -> Self {
        let mut pdf = Self {
            objects: vec![Vec::new(), Vec::new()],
            pages: Vec::new(),
            fonts: String::new(),
            trailer: String::new(),
        };
        let widths = "500 ".repeat(224);
        let font = pdf.object(&format!(
            "<< /Type /Font /Subtype /Type1 /BaseFont /X /FirstChar 32 /Widths [{widths}] >>"
        ));
        let resources = format!("/Resources << /Font << /F7 {font} 0 R >> >>");
        let form = format!("/Type /XObject /Subtype /Form /Matrix [1 0 0 1 0 20] {resources}");
        pdf.stream(&form, b"BT /F7 10 Tf (inside) Tj ET");
        pdf.fonts = format!("/F1 {font} 0 R");
        pdf
    }

    /// Adds an object and says its number.
    pub(super) fn object(&mut self, object: &str) -> usize {
        self.objects.push(object.as_bytes().to_vec());
        self.objects.len()
    }

    pub(super) fn stream(&mut self, dictionary: &str, data: &[u8]) -> usize {
        let head = format!("<< {dictionary} /Length {} >>\nstream\n", data.len());
        self.objects.push([head.as_bytes(), data, b"\nendstream"].concat());
        self.objects.len()
    }

    pub(super) fn font(mut self, name: &str, number: usize) -> Self {
        let _ = write!(self.fonts, " /{name} {number} 0 R");
        self
    }

    pub(super) fn info(mut self, info: &str) -> Self {
        let number = self.object(info);
        self.trailer(&format!("/Info {number} 0 R"))
    }

    pub(super) fn trailer(mut self, more: &str) -> Self {
        let _ = write!(self.trailer, " {more}");
        self
    }

    pub(super) fn page(mut self, content: &str) -> Self {
        let content = self.stream("", content.as_bytes());
        self.page_of(content)
    }

    /// A page whose content is in this object.
    pub(super) fn page_of(mut self, content: usize) -> Self {
        let page = format!("<< /Type /Page /Parent {TREE} 0 R /Contents {content} 0 R >>");
        let page = self.object(&page);
        self.kid(page)
    }

    /// Puts an object into the tree of pages.
    pub(super) fn kid(mut self, number: usize) -> Self {
        self.pages.push(number);
        self
    }

    pub(super) fn file(mut self) -> Vec<u8> {
        let kids = self.pages.iter().fold(String::new(), |kids, page| format!("{kids} {page} 0 R"));
        let resources = format!("<< /Font << {} >> /XObject << /Fm1 4 0 R >> >>", self.fonts);
        self.objects[CATALOG - 1] = format!("<< /Type /Catalog /Pages {TREE} 0 R >>").into_bytes();
        let tree = format!(
            "<< /Type /Pages /Kids [{kids}] /Count {} /Resources {resources} >>",
            self.pages.len()
        );
        self.objects[TREE - 1] = tree.into_bytes();
        written(&self.objects, &self.trailer)
    }
}

/// Objects with a table of their places.
pub(super) fn written(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let (mut file, mut table) = (b"%PDF-1.7\n".to_vec(), String::new());
    for (number, object) in (1..).zip(objects) {
        let _ = writeln!(table, "{:010} 00000 n ", file.len());
        file.extend(format!("{number} 0 obj\n").into_bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let (start, size) = (file.len(), objects.len() + 1);
    let end = format!(
        "xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root {CATALOG} 0 R {trailer} \
         >>\nstartxref\n{start}\n%%EOF\n"
    );
    file.extend(end.into_bytes());
    file
}

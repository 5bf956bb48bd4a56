//! DOCX, PPTX and XLSX.

use gatefold_documents::{BlockKind, Place};

use crate::builder::{blocks, docx, docx_with, paragraph, pptx, read, references, xlsx};

use BlockKind::{Code, Heading, List, Paragraph, Table};

#[track_caller]
fn check(name: &str, bytes: &[u8], expected: &[(BlockKind, &str)]) {
    let document = read(name, bytes).unwrap();
    assert_eq!(blocks(&document), expected);
    assert!(document.faults.is_empty(), "{:?}", document.faults);
}

#[test]
fn a_docx_gives_headings_lists_tables_and_code() {
    let item = |level: u8, text: &str| {
        format!(
            "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"1\"/></w:numPr></w:pPr>\
             <w:r><w:t>{text}</w:t></w:r></w:p>"
        )
    };
    let cell = |text: &str| format!("<w:tc>{}</w:tc>", paragraph("", text));
    let wide =
        format!("<w:tc><w:tcPr><w:gridSpan w:val=\"2\"/></w:tcPr>{}</w:tc>", paragraph("", "both"));
    let body = [
        paragraph("T", "The &amp; title"),
        paragraph("H1", "One"),
        "<w:p><w:r><w:t xml:space=\"preserve\">Cafe\u{301} </w:t></w:r><w:r><w:t>two</w:t><w:tab/><w:t>three</w:t></w:r></w:p>"
            .to_owned(),
        item(0, "a") + &item(1, "b") + &item(0, "c"),
        paragraph("Own", "Two"),
        paragraph("Code", "fn a() {") + &paragraph("Code", "") + &paragraph("Code", "}"),
        format!("<w:tbl><w:tr>{}{}</w:tr><w:tr>{wide}</w:tr></w:tbl>", cell("h"), cell("i")),
        format!("<w:tbl><w:tr><w:tc>{}</w:tc></w:tr></w:tbl>", paragraph("", "framed")),
    ];
    let expected = [
        (Heading(1), "# The & title"),
        (Heading(1), "# One"),
        (Paragraph, "Café two\tthree"),
        (List, "- a\n  - b\n- c"),
        (Heading(2), "## Two"),
        (Code, "```\nfn a() {\n\n}\n```"),
        (Table, "| h | i |\n| --- | --- |\n| both |  |"),
        (Paragraph, "framed"),
    ];
    check("a.docx", &docx(&body.concat()), &expected);
    let document = read("a.docx", &docx(&body.concat())).unwrap();
    assert_eq!(document.title.as_deref(), Some("The & title"));
    let at = document.text.find("both").unwrap();
    assert_eq!(document.heading_path(at), ["One", "Two"]);
}

#[test]
fn a_docx_is_read_as_it_is_shown() {
    let run = |inner: &str| format!("<w:r>{inner}</w:r>");
    let body = format!(
        "<w:p>{}<w:del>{}</w:del><w:ins>{}</w:ins><w:moveFrom>{}</w:moveFrom></w:p>\
         <w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent>{}</w:txbxContent></mc:Choice>\
         <mc:Fallback><w:t>old</w:t></mc:Fallback></mc:AlternateContent><w:t>around</w:t></w:r></w:p>",
        run("<w:t>now</w:t>"),
        run("<w:delText> gone</w:delText>"),
        run("<w:t xml:space=\"preserve\"> new</w:t>"),
        run("<w:t>moved</w:t>"),
        paragraph("", "boxed"),
    );
    check(
        "a.docx",
        &docx(&body),
        &[(Paragraph, "now new"), (Paragraph, "boxed"), (Paragraph, "around")],
    );
    let hidden = "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret order</w:t></w:r><w:r><w:t>seen</w:t></w:r></w:p>";
    let document = read("a.docx", &docx(hidden)).unwrap();
    assert_eq!(document.text, "seen");
    assert_eq!(
        document.annotated_text(),
        "seen\n\n[parts are left out: its author hid it from readers]"
    );
}

#[test]
fn notes_of_a_docx_come_last_and_cost_no_more_than_themselves() {
    let list =
        references(&[("n", "footnotes", "footnotes.xml"), ("e", "endnotes", "endnotes.xml")]);
    let notes =
        format!("<w:footnotes><w:footnote>{}</w:footnote></w:footnotes>", paragraph("", "A note."));
    let more = [
        ("word/_rels/document.xml.rels", &list[..]),
        ("word/footnotes.xml", &notes),
        ("word/endnotes.xml", "<w:endnotes><w:p>"),
    ];
    let document = read("a.docx", &docx_with(&paragraph("", "Text."), &more)).unwrap();
    assert_eq!(document.text, "Text.\n\nA note.");
    let faults: Vec<_> = document.faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        faults,
        ["[`word/endnotes.xml` is left out: this DOCX is damaged: a part of it is cut off]"]
    );
}

#[test]
fn a_document_that_is_cut_off_inside_gives_what_came_before() {
    let whole = docx("");
    assert_eq!(read("a.docx", &whole).unwrap_err().state(), "no_text");
    let cut =
        format!("{}<w:tbl><w:tr><w:tc>{}", paragraph("", "First."), paragraph("", "in a cell"));
    let document = read("a.docx", &docx(&(cut + "<w:broken"))).unwrap();
    assert_eq!(document.text, "First.\n\nin a cell");
    assert_eq!(document.faults.len(), 1);
}

#[test]
fn slides_have_numbers_and_titles() {
    let shape = |kind: &str, paragraphs: &str| {
        format!(
            "<p:sp><p:nvPr><p:ph type=\"{kind}\"/></p:nvPr><p:txBody>{paragraphs}</p:txBody></p:sp>"
        )
    };
    let line = |text: &str| format!("<a:p><a:r><a:t>{text}</a:t></a:r></a:p>");
    let deep = "<a:p><a:pPr lvl=\"1\"/><a:r><a:t>deep</a:t></a:r></a:p>";
    let plain = "<a:p><a:pPr><a:buNone/></a:pPr><a:r><a:t>plain</a:t></a:r></a:p>";
    let cell = |text: &str| format!("<a:tc><a:txBody>{}</a:txBody></a:tc>", line(text));
    let first = shape("title", &line("One")) + &shape("body", &(line("a") + deep + plain));
    let second = shape("sldNum", &line("2"))
        + &format!("<a:tbl><a:tr>{}{}</a:tr></a:tbl>", cell("x"), cell("y"));
    let bytes = pptx(&[&first, &second]);
    let expected = [
        (Heading(1), "# One"),
        (List, "- a\n  - deep"),
        (Paragraph, "plain"),
        (Table, "| x | y |\n| --- | --- |"),
    ];
    check("a.pptx", &bytes, &expected);
    let document = read("a.pptx", &bytes).unwrap();
    assert_eq!(document.place(document.text.find("deep").unwrap()), Some(Place::Slide(1)));
    assert_eq!(document.place(document.text.find('x').unwrap()), Some(Place::Slide(2)));
    let shown =
        "## Slide 1\n\n# One\n\n- a\n  - deep\n\nplain\n\n## Slide 2\n\n| x | y |\n| --- | --- |";
    assert_eq!(document.annotated_text(), shown);
}

#[test]
fn a_bad_slide_costs_that_slide() {
    let good = "<p:sp><p:txBody><a:p><a:r><a:t>fine</a:t></a:r></a:p></p:txBody></p:sp>";
    let document = read("a.pptx", &pptx(&["</p:wrong>", good])).unwrap();
    assert_eq!(document.text, "fine");
    assert_eq!(document.place(0), Some(Place::Slide(2)));
    assert!(
        document.annotated_text().contains("[`ppt/slides/slide0.xml` is left out"),
        "{document:?}"
    );
}

#[test]
fn cells_know_where_they_are() {
    let rows = "<row r=\"2\"><c r=\"B2\" t=\"s\"><v>0</v></c><c r=\"C2\" t=\"inlineStr\"><is><t>When</t></is></c></row>\
                <row r=\"3\"><c r=\"B3\"><v>0.30000000000000004</v></c><c r=\"C3\" s=\"1\"><v>45351</v></c></row>\
                <row r=\"4\"><c r=\"C4\" s=\"2\"><v>0.125</v></c><c r=\"D4\" t=\"b\"><v>1</v></c></row>\
                <row r=\"9\"><c r=\"A9\" t=\"str\"><f>A1&amp;B1</f><v>x</v></c><c><f>SUM(A1:A2)</f></c></row>";
    let shared = "<sst><si><r><t>How </t></r><r><t>much</t></r><rPh><t>no</t></rPh></si></sst>";
    let bytes = xlsx(&[("Costs", rows), ("Empty", "")], shared);
    let expected = [
        (Heading(2), "## Costs"),
        (
            Table,
            "| How much | When |  |\n| --- | --- | --- |\n| 0.3 | 2024-02-29 |  |\n|  | 12.5% | TRUE |",
        ),
        (Table, "| x | =SUM(A1:A2) |\n| --- | --- |"),
        (Heading(2), "## Empty"),
    ];
    check("a.xlsx", &bytes, &expected);
    let document = read("a.xlsx", &bytes).unwrap();
    for (words, row, column) in
        [("How much", 2, 2), ("2024", 3, 3), ("TRUE", 4, 4), ("x |", 9, 1), ("=SUM", 9, 2)]
    {
        let at = document.text.find(words).unwrap();
        assert_eq!(document.place(at), Some(Place::Cell { sheet: 1, row, column }), "{words}");
        assert_eq!(document.heading_path(at), ["Costs"]);
    }
}

#[test]
fn other_archives_say_what_they_are() {
    let open = crate::builder::zipped(&[("mimetype", b"application/vnd.oasis.opendocument.text")]);
    let message =
        "this is an OpenDocument file, which is not read; save it as DOCX, PPTX, XLSX or PDF";
    assert_eq!(read("a.odt", &open).unwrap_err().to_string(), message);
    let plain = crate::builder::zipped(&[("a.txt", b"a")]);
    let message = "this is a ZIP archive, which is not read; unpack it first";
    assert_eq!(read("a.zip", &plain).unwrap_err().to_string(), message);
}

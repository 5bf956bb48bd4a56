use gatefold_embedding_example::poet::{poet, verse};
use gatefold_testkit::model::{Move, ScriptedModel};

#[tokio::test]
async fn a_model_of_ones_own_is_asked() {
    let model = ScriptedModel::start(|_| Move::say("Roses are red."));
    let poet = poet(&model.url(), "bard").unwrap();
    assert_eq!(verse(&poet, "a rose").await.unwrap(), "Roses are red.");
}
